// Form fields of UI trees. A field with `on_change` or `on_submit` acts by itself; inside a form its value goes with the form's.

import { h, plain, unique } from "./dom.js";

export function form(props, ctx, children) {
  const submit = (event) => {
    event.preventDefault();
    const values = { ...(props.defaults ?? {}), ...valuesOf(element) };
    const action = typeof props.action === "string" ? { action: "call", function: props.action } : (props.action ?? props.on_submit);
    ctx.act(action, values, plain(props.submit_label), element.querySelector("button[type=submit]"), "", () => element.reset());
  };
  const element = h("form", { class: "n-form", onsubmit: submit, autocomplete: "off" }, children({ ...ctx, inForm: true }));
  if (!element.querySelector("button[type=submit]")) element.append(h("button", { type: "submit", class: "primary" }, plain(props.submit_label) || "OK"));
  for (const [name, value] of Object.entries(props.defaults ?? {})) {
    const field = element.querySelector(`[data-param="${CSS.escape(name)}"]`);
    if (field && !field.value && field.type !== "checkbox") field.value = plain(value);
  }
  return element;
}

// What the fields of an element hold, by parameter name. Empty optional fields are left out, so a function's defaults apply.
export function valuesOf(element) {
  const values = {};
  for (const field of element.querySelectorAll("[data-param]")) {
    const value = valueOf(field);
    if (value !== undefined) values[field.dataset.param] = value;
  }
  return values;
}

function valueOf(field) {
  if (field.type === "checkbox") return field.checked;
  if (field.type === "radio") return undefined;
  if (field.dataset.kind === "radios") return field.querySelector("input:checked")?.value;
  if (field.multiple) return Array.from(field.selectedOptions, (o) => o.value);
  if (field.value === "") return undefined;
  if (field.dataset.kind === "tags") return field.value.split(",").map((s) => s.trim()).filter(Boolean);
  return field.type === "number" || field.type === "range" ? Number(field.value) : field.value;
}

function labelled(props, control, wrap = true) {
  control.id = unique("field");
  const label = plain(props.label);
  if (!label) control.setAttribute("aria-label", plain(props.placeholder) || plain(props.param_name));
  const help = plain(props.error || props.description);
  const note = help && h("span", { class: props.error ? "warning" : "muted", id: `${control.id}-help` }, help);
  if (note) control.setAttribute("aria-describedby", note.id);
  const caption = label && h("label", { for: control.id }, label);
  return h("div", { class: wrap ? "n-field" : "n-check" }, wrap ? [caption, control] : [control, caption], note);
}

function common(props, kind) {
  return {
    dataset: { param: plain(props.param_name) || "value", ...(kind ? { kind } : {}) },
    required: Boolean(props.required), disabled: Boolean(props.disabled), readonly: Boolean(props.readonly),
  };
}

// Runs `on_change` with the field's value under its parameter's name.
function changes(props, ctx) {
  if (!props.on_change) return {};
  return { onchange: (event) => ctx.act(props.on_change, { [plain(props.param_name) || "value"]: valueOf(event.currentTarget) }, plain(props.label)) };
}

function submits(props, ctx) {
  if (!props.on_submit || ctx.inForm) return {};
  const act = (field) => ctx.act(props.on_submit, { [plain(props.param_name) || "value"]: field.value }, plain(props.label), field);
  return { onkeydown: (event) => event.key === "Enter" && !event.shiftKey && (event.preventDefault(), act(event.currentTarget)) };
}

const TYPES = new Set(["text", "password", "email", "number", "url", "date", "time", "tel", "search", "datetime-local"]);

function input(props, ctx, type = plain(props.type)) {
  return labelled(props, h("input", { ...common(props), type: TYPES.has(type) ? type : "text", placeholder: plain(props.placeholder), value: plain(props.value), ...changes(props, ctx), ...submits(props, ctx) }));
}

function options(props) {
  return (Array.isArray(props.options) ? props.options : []).map((o) => (o && typeof o === "object" ? { value: plain(o.value ?? o.id), label: plain(o.label ?? o.value) } : { value: plain(o), label: plain(o) }));
}

function select(props, ctx, multiple = false) {
  const chosen = new Set((multiple ? (props.values ?? []) : [props.value]).map(plain));
  const list = options(props).map((o) => h("option", { value: o.value, selected: chosen.has(o.value) }, o.label));
  if (!multiple && (props.placeholder || !chosen.size)) list.unshift(h("option", { value: "" }, plain(props.placeholder)));
  return labelled(props, h("select", { ...common(props), multiple, ...changes(props, ctx) }, list));
}

function check(props, ctx, role) {
  const control = h("input", { ...common(props), type: "checkbox", role, ...changes(props, ctx) });
  control.checked = Boolean(props.value ?? props.checked);
  return labelled(props, control, false);
}

function radios(props, ctx) {
  const name = unique("radio");
  const rows = options(props).map((o) => h("label", { class: "n-check" }, h("input", { type: "radio", name, value: o.value, checked: plain(props.value) === o.value }), o.label));
  return h("fieldset", { ...common(props, "radios"), ...changes(props, ctx) }, h("legend", {}, plain(props.label)), rows);
}

const area = (props, ctx) =>
  labelled(props, h("textarea", { ...common(props), rows: Math.min(Math.max(Number(props.rows) || 3, 1), 20), placeholder: plain(props.placeholder), ...changes(props, ctx), value: plain(props.value ?? props.content) }));

export const FIELDS = {
  Input: input,
  Password: (p, ctx) => input(p, ctx, "password"),
  DatePicker: (p, ctx) => input(p, ctx, "date"),
  TextArea: area,
  RichEditor: area,
  Select: select,
  MultiSelect: (p, ctx) => select(p, ctx, true),
  Checkbox: (p, ctx) => check(p, ctx),
  Toggle: (p, ctx) => check(p, ctx, "switch"),
  RadioGroup: radios,
  Slider: (p, ctx) => labelled(p, h("input", { ...common(p), type: "range", min: Number(p.min ?? 0), max: Number(p.max ?? 100), step: Number(p.step ?? 1), value: plain(p.value), ...changes(p, ctx) })),
  TagInput: (p, ctx) => labelled(p, h("input", { ...common(p, "tags"), type: "text", placeholder: plain(p.placeholder), value: (Array.isArray(p.values) ? p.values : []).map(plain).join(", "), ...changes(p, ctx) })),
};
