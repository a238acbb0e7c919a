// The focus never falls to the body: where what had it goes away, it moves to what stands for that.

/** @type {any} */
let last = null;

/** `home()` is where it goes. */
export function keepFocus(home) {
  document.addEventListener("focusin", (event) => (last = event.target));
  const look = () => {
    if (!last || document.activeElement !== document.body) return;
    if (last.isConnected && !last.disabled && last.checkVisibility()) return;
    const near = last.isConnected ? last.closest("dialog[open], [data-panel], .session") : null;
    const next = near?.querySelector("button:not([disabled]), input, summary") ?? home();
    next?.focus({ preventScroll: true });
  };
  new MutationObserver(() => queueMicrotask(look)).observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["disabled", "hidden", "open"],
  });
}
