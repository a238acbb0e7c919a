// Files chosen for a form or an action: a list of `{name, type, size, content_base64}`, together no more than a
// request carries.

import { array, fill, h, plain, safeImage, unique } from "./dom.js";
import { t } from "./strings.js";

const MOST_BYTES = 90 * 1024;

export function upload(p, ctx) {
  const limit = (mb) => Math.min(MOST_BYTES, mb > 0 ? mb * 2 ** 20 : MOST_BYTES);
  const [each, all] = [limit(p.max_size_mb), limit(p.max_total_mb)];
  const blocked = array(p.blocked_extensions).map((e) => plain(e).toLowerCase().replace(/^\.?/, "."));
  const param = plain(p.param_name) || "files";
  const name = plain(p.title) || t("file");
  const id = unique("file");
  const problem = h("p.warning", { role: "alert" });
  const pictures = h("div.n-row");

  const refusal = (files) => {
    const bad = files.find((f) => blocked.some((e) => f.name.toLowerCase().endsWith(e)));
    if (bad) return t("fileRefused", { name: bad.name });
    const big = files.find((f) => f.size > each)?.name ?? (files.reduce((sum, f) => sum + f.size, 0) > all && name);
    if (big) return t("fileTooBig", { name: big, kb: kilobytes(Math.min(each, all)) });
    return p.max_files > 0 && files.length > p.max_files && t("filesTooMany", { n: p.max_files });
  };
  const choose = async () => {
    const files = Array.from(field.files);
    const why = refusal(files);
    box.chosen = [];
    fill(problem, why);
    if (why) field.value = "";
    else box.chosen = await Promise.all(files.map(read));
    fill(
      pictures,
      p.show_previews &&
        box.chosen
          .map((f) => [safeImage(`data:${f.type};base64,${f.content_base64}`), f.name])
          .filter(([src]) => src)
          .map(([src, alt]) => h("img", { src, alt, class: "n-preview" })),
    );
    if (p.on_upload && box.chosen.length) ctx.act(p.on_upload, { [param]: box.chosen }, name, field, "", clear);
  };
  const clear = () => {
    field.value = "";
    fill(pictures);
    box.chosen = [];
  };
  const accept = plain(p.accept);
  const field = h("input", {
    type: "file",
    id,
    multiple: Boolean(p.multiple),
    accept: accept === "*" ? undefined : accept,
    "aria-describedby": `${id}-help`,
    onchange: choose,
  });
  const help = [plain(p.hint), t("fileLimit", { kb: kilobytes(all) })].filter(Boolean).join(" · ");
  const box = h(
    "div.n-field",
    { dataset: { param, kind: "files" } },
    h("label", { for: id }, name),
    field,
    h("span.muted", { id: `${id}-help` }, help),
    problem,
    pictures,
  );
  return Object.assign(box, { chosen: [], clear });
}

const kilobytes = (bytes) => Math.floor(bytes / 1024);

function read(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const url = String(reader.result);
      const content_base64 = url.slice(url.indexOf(",") + 1);
      resolve({ name: file.name, type: file.type, size: file.size, content_base64 });
    };
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
