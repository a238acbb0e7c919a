// Images, sound and pictures that move, from `https:` and `data:` only. Nothing plays by itself.

import { h, plain, safeImage, safeMedia } from "./dom.js";
import { t } from "./strings.js";
import { clickable } from "./buttons.js";

const refused = (p) =>
  h(
    "p.muted",
    [plain(p.alt ?? p.title), t("cannotOpen", { url: plain(p.src).slice(0, 200) })].filter(Boolean).join(" · "),
  );

function sized(element, p) {
  for (const side of ["width", "height"])
    if (p[side]) element.style[side] = /^\d+$/.test(p[side]) ? `${p[side]}px` : plain(p[side]);
  element.style.objectFit = plain(p.object_fit);
  return element;
}

export function image(p, ctx) {
  const src = safeImage(p.src);
  if (!src) return refused(p);
  const picture = sized(h("img", { src, alt: plain(p.alt), loading: "lazy", referrerpolicy: "no-referrer" }), p);
  const name = plain(p.alt) || plain(p.caption) || t("open");
  const shown = clickable(p.on_click, ctx, "bare", name, picture);
  if (p.on_click) shown.setAttribute("aria-label", name);
  return h("figure.n-image", shown, p.caption && h("figcaption.muted", plain(p.caption)));
}

export function avatar(p) {
  const src = safeImage(p.src);
  return h(
    "span",
    { class: `n-avatar ${["sm", "lg"].includes(p.size) ? p.size : ""}`, "aria-hidden": "true" },
    src ? h("img", { src, alt: "", referrerpolicy: "no-referrer" }) : plain(p.fallback).slice(0, 2),
  );
}

export function media(tag, p) {
  const src = safeMedia(p.src);
  if (!src) return refused(p);
  const player = h(tag, {
    src,
    controls: true,
    preload: "metadata",
    playsinline: true,
    loop: Boolean(p.loop),
    poster: safeImage(p.poster) || undefined,
    "aria-label": plain(p.title) || t(tag),
  });
  player.muted = Boolean(p.muted);
  return h("figure.n-image", sized(player, p), p.title && h("figcaption.muted", plain(p.title)));
}
