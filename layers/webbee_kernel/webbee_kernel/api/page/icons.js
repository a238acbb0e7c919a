// Icons by their Lucide name, as characters every system has. An unknown name has none.

import { h, plain } from "./dom.js";

const GLYPHS = new Map(
  [
    "✉ mail inbox|🔔 bell|✓ check|✗ x|+ plus|⌂ home house|★ star|♥ heart|⚠ trianglealert alert|ℹ info",
    "⚙ settings|🗑 trash|✎ pencil edit|🔍 search|📅 calendar|⏱ clock|📁 folder folderopen|📄 file filetext",
    "📎 paperclip|👤 user users|🔒 lock shield|🔑 key|↗ externallink trendingup|→ arrowright|← arrowleft",
    "↑ upload|↓ download|↻ refreshcw|▶ play|■ stop|⚡ zap activity|🗄 database server|☁ cloud|🌐 globe",
    "🔗 link|💬 messagesquare|📞 phone|📊 chart barchart|🪙 coins|💰 dollarsign wallet|🏷 tag|✨ sparkles|🤖 bot",
    "⋯ ellipsis|👁 eye|📋 copy|🚀 rocket|➤ send",
  ]
    .join("|")
    .split("|")
    .flatMap((row) =>
      row
        .split(" ")
        .slice(1)
        .map((name) => [name, row.split(" ")[0]]),
    ),
);

const find = (name) => {
  const word = plain(name)
    .toLowerCase()
    .replace(/[^a-z]/g, "");
  return (
    GLYPHS.get(word) ??
    GLYPHS.get(word.replace(/circle|square|round/g, "")) ??
    (/^[^\w\s]{1,4}$/.test(name) ? name : "")
  );
};

// Beside a text that says the same: nothing for a screen reader.
export function glyph(name) {
  const sign = name && find(name);
  return sign ? h("span.glyph", { "aria-hidden": "true" }, sign) : null;
}

export function lone(p) {
  const sign = find(p.name);
  const colour = plain(p.color);
  const element = h(
    "span",
    { class: `${sign ? "glyph" : "n-meta"} ${colour.replace(/\W/g, "")}`, role: "img", "aria-label": plain(p.name) },
    sign || plain(p.name),
  );
  if (sign && p.size > 0) element.style.fontSize = `${Math.min(p.size, 96)}px`;
  if (colour[0] === "#" && CSS.supports("color", colour)) element.style.color = colour;
  return element;
}
