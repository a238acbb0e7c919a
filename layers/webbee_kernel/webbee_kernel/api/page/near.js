// Long conversations: a turn far from what is seen stands as its plain text, found and read aloud like any other, and
// is built when it comes near.

import { h, plain } from "./dom.js";
import { t } from "./strings.js";

const MARGIN = "1500px 0px";

export class Near {
  /** @param {Element} root what scrolls */
  constructor(root) {
    /** @type {WeakMap<Element, () => Element>} */
    this.makers = new WeakMap();
    const near = (seen) => seen.filter((one) => one.isIntersecting).forEach((one) => this.build(one.target));
    this.observer = new IntersectionObserver(near, { root, rootMargin: MARGIN });
  }

  /** An item of the list that is made when it comes near. @param {string} who @param {any} text
   * @param {() => Element} make */
  later(who, text, make) {
    const item = h("li", { class: `turn far ${who}` }, h("div.who", t(who)), h("div.bubble", h("p.pre", plain(text))));
    this.makers.set(item, make);
    this.observer.observe(item);
    return item;
  }

  build(item) {
    if (!item) return;
    this.observer.unobserve(item);
    const make = this.makers.get(item);
    if (make && item.isConnected) item.replaceWith(make());
  }

  /** Another conversation is shown. */
  clear() {
    this.observer.disconnect();
  }
}
