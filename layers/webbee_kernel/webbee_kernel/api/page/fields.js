// Form fields of UI trees. A field with `on_change` or `on_submit` acts by itself; inside a form its value goes
// with the form's.

import { colourOf } from "./buttons.js";
import { array, h, many, plain, unique, within } from "./dom.js";
import { upload } from "./files.js";
import { fieldset, listInput } from "./groups.js";
import { number, t } from "./strings.js";

export function form(props, ctx) {
  const action =
    typeof props.action === "string" ? { action: "call", function: props.action } : (props.action ?? props.on_submit);
  const submit = (event) => {
    event.preventDefault();
    const values = { ...(props.defaults ?? {}), ...valuesOf(element) };
    ctx.act(action, values, plain(props.submit_label), element.querySelector("button[type=submit]"), "", () => {
      element.reset();
      for (const files of element.querySelectorAll("[data-kind=files]")) files.clear();
    });
  };
  const element = h(
    "form.n-form",
    { onsubmit: submit, autocomplete: "off" },
    ctx.kids(props.children, { inForm: true }),
  );
  if (!element.querySelector("button[type=submit]"))
    element.append(
      h("button", { type: "submit", class: colourOf(action, ctx, "primary") }, plain(props.submit_label) || "OK"),
    );
  for (const [name, value] of Object.entries(props.defaults ?? {})) {
    const field = element.querySelector(`[data-param="${CSS.escape(name)}"]`);
    if (field && !field.value && field.type !== "checkbox") field.value = plain(value);
  }
  return element;
}

const GROUPS = "[data-kind=object], [data-kind=list]";

// What the fields of an element hold, by parameter name. Empty optional fields are left out, so a function's
// defaults apply.
export function valuesOf(element) {
  const values = {};
  for (const field of element.querySelectorAll("[data-param]")) {
    const group = field.parentElement.closest(GROUPS);
    if (group && group !== element && element.contains(group)) continue; // its group tells it
    const value = valueOf(field);
    if (value !== undefined) values[field.dataset.param] = value;
  }
  return values;
}

function valueOf(field) {
  if (field.type === "checkbox") return field.checked;
  if (field.type === "radio") return undefined;
  if (field.dataset.kind === "radios") return field.querySelector("input:checked")?.value;
  if (field.dataset.kind === "object") return told(valuesOf(field));
  if (field.dataset.kind === "list") return rowsOf(field);
  if (field.dataset.kind === "files") return field.chosen.length ? field.chosen : undefined;
  if (field.multiple) return Array.from(field.selectedOptions, (o) => o.value);
  if (field.value === "") return undefined;
  if (field.dataset.kind === "tags")
    return field.value
      .split(",")
      .map((s) => s.trim())
      .filter(Boolean);
  return field.type === "number" || field.type === "range" ? Number(field.value) : field.value;
}

// An object in which nothing was filled or ticked is none.
const told = (values) => (Object.values(values).some((value) => value !== false) ? values : undefined);

function rowsOf(list) {
  const fields = Array.from(list.querySelectorAll("[data-param=value]"));
  const own = fields.filter((field) => field.parentElement.closest(GROUPS) === list);
  const values = own.map(valueOf).filter((value) => value !== undefined);
  return values.length ? values : undefined;
}

function labelled(props, control, wrap = true, more = null) {
  control.id = unique("field");
  const label = plain(props.label);
  if (!label) control.setAttribute("aria-label", plain(props.placeholder) || plain(props.param_name));
  const note = notes(props, control);
  const caption = label && h("label", { for: control.id }, label);
  return h("div", { class: wrap ? "n-field" : "n-check" }, wrap ? [caption, control] : [control, caption], more, note);
}

/** What a server finds wrong, at the fields it names; those that have none are left.
 * @param {any} form @param {{field: string, problem: string, told?: string}[]} problems */
export function blame(form, problems) {
  for (const old of form.querySelectorAll(".blame")) old.remove();
  for (const field of form.querySelectorAll("[data-param]")) field.removeAttribute("aria-invalid");
  const left = problems.filter(({ field, problem, told }) => {
    const control = form.querySelector(`[data-param="${CSS.escape(plain(field).split(".")[0])}"]`);
    if (!control) return true;
    control.setAttribute("aria-invalid", "true");
    control.closest(".n-field, .n-check")?.append(h("span.warning.blame", { role: "alert" }, plain(told || problem)));
    return false;
  });
  form.querySelector("[aria-invalid]")?.focus();
  return left;
}

// From where to where a number may go, as its reader writes numbers.
function limits({ min, max }) {
  const [from, to] = [min, max].map((one) => (Number.isFinite(one) ? number(one) : ""));
  if (from && to) return `${from} – ${to}`;
  return from ? `≥ ${from}` : to && `≤ ${to}`;
}

// What is wrong with a value, and what is said about it.
function notes(props, control) {
  const lines = [
    ["error", "warning"],
    ["description", "muted"],
    ["validate_message", "muted"],
    ["limits", "muted"],
  ].filter(([name]) => props[name]);
  if (props.error) control.setAttribute("aria-invalid", "true");
  if (!lines.length) return null;
  const id = unique("help");
  control.setAttribute("aria-describedby", id);
  return h(
    "span.n-notes",
    { id },
    lines.map(([name, kind]) => h("span", { class: kind }, plain(props[name]))),
  );
}

function common(props, kind) {
  return {
    dataset: { param: plain(props.param_name) || "value", ...(kind ? { kind } : {}) },
    required: Boolean(props.required),
    disabled: Boolean(props.disabled),
    readonly: Boolean(props.readonly),
  };
}

// Runs `on_change` with the field's value under its parameter's name.
function changes(props, ctx) {
  if (!props.on_change) return {};
  return {
    onchange: (event) =>
      ctx.act(
        props.on_change,
        { [plain(props.param_name) || "value"]: valueOf(event.currentTarget) },
        plain(props.label),
      ),
  };
}

function submits(props, ctx) {
  if (!props.on_submit || ctx.inForm) return {};
  const act = (field) =>
    ctx.act(props.on_submit, { [plain(props.param_name) || "value"]: field.value }, plain(props.label), field);
  return {
    onkeydown: (event) =>
      event.key === "Enter" && !event.shiftKey && (event.preventDefault(), act(event.currentTarget)),
  };
}

const TYPES = new Set([
  "text",
  "password",
  "email",
  "number",
  "url",
  "date",
  "time",
  "tel",
  "search",
  "datetime-local",
]);

function input(props, ctx, type = plain(props.type)) {
  const autocomplete = type === "password" ? "new-password" : undefined;
  return labelled(
    type === "number" ? { ...props, limits: limits(props) } : props,
    h("input", {
      ...common(props),
      type: TYPES.has(type) ? type : "text",
      autocomplete,
      min: props.min,
      max: props.max,
      step: type === "number" ? (props.step ?? "any") : undefined, // without one a browser refuses 26.2
      placeholder: plain(props.placeholder),
      value: plain(props.value),
      ...changes(props, ctx),
      ...submits(props, ctx),
    }),
  );
}

function options(props) {
  return array(props.options)
    .slice(0, 1000)
    .map((o) =>
      o && typeof o === "object"
        ? { ...o, value: plain(o.value ?? o.id), label: plain(o.label ?? o.value) }
        : { value: plain(o), label: plain(o) },
    );
}

function select(props, ctx, multiple = false) {
  const chosen = new Set((multiple ? array(props.values) : [props.value]).map(plain));
  const list = options(props).map((o) =>
    h("option", { value: o.value, selected: chosen.has(o.value), disabled: Boolean(o.disabled) }, o.label),
  );
  if (!multiple && (props.placeholder || !chosen.size))
    list.unshift(h("option", { value: "" }, plain(props.placeholder)));
  return labelled(
    multiple ? { ...props, description: plain(props.description) || props.placeholder } : props,
    h("select", { ...common(props), multiple, ...changes(props, ctx) }, list),
  );
}

function check(props, ctx, role) {
  const control = h("input", { ...common(props), type: "checkbox", role, ...changes(props, ctx) });
  control.checked = Boolean(props.value ?? props.checked);
  return labelled(props, control, false);
}

function radios(props, ctx) {
  const name = unique("radio");
  const row = (o) =>
    h(
      "label.n-check",
      h("input", {
        type: "radio",
        name,
        value: o.value,
        checked: plain(props.value) === o.value,
        disabled: Boolean(o.disabled),
        required: Boolean(props.required),
      }),
      h("span", o.label, o.description && h("span.muted", " ", plain(o.description))),
    );
  const group = h(
    "fieldset",
    { ...common(props, "radios"), ...changes(props, ctx) },
    h("legend", plain(props.label)),
    h("div", { class: props.orientation === "horizontal" ? "n-row" : "n-notes" }, options(props).map(row)),
  );
  group.append(notes(props, group) ?? "");
  return group;
}

// Ctrl+Enter or Ctrl+S, and a button for those who do not know.
function area(props, ctx) {
  const action = props.on_save ?? (!ctx.inForm && props.on_submit);
  const save =
    action &&
    h(
      "button.secondary.small",
      {
        onclick: () =>
          ctx.act(action, { [plain(props.param_name) || "value"]: control.value }, plain(props.label), save),
      },
      t("save"),
    );
  const press = (event) =>
    (event.ctrlKey || event.metaKey) &&
    ["Enter", "s"].includes(event.key) &&
    save &&
    (event.preventDefault(), save.click());
  const control = h("textarea", {
    ...common(props),
    rows: within(props.rows, 1, 20, 3),
    placeholder: plain(props.placeholder),
    onkeydown: press,
    ...changes(props, ctx),
    value: plain(props.value ?? props.content),
  });
  return labelled(props, control, true, save);
}

function slider(props, ctx) {
  const value = h("output", plain(props.value));
  const control = h("input", {
    ...common(props),
    type: "range",
    min: Number(props.min ?? 0),
    max: Number(props.max ?? 100),
    step: Number(props.step ?? 1),
    ...changes(props, ctx),
    oninput: () => (value.value = control.value),
  });
  control.value = plain(props.value);
  return labelled(props, control, true, value);
}

function tags(props, ctx) {
  const control = h("input", {
    ...common(props, "tags"),
    type: "text",
    placeholder: plain(props.placeholder),
    value: array(props.values).map(plain).join(", "),
    ...changes(props, ctx),
  });
  const add = (tag) => {
    control.value = [...new Set([...(valueOf(control) ?? []), tag])].join(", ");
    control.dispatchEvent(new Event("change"));
  };
  const offered =
    array(props.suggestions).length > 0 &&
    h(
      "div.chips",
      many(props.suggestions, 50, (s) => h("button.small", { onclick: () => add(plain(s)) }, "+ ", plain(s))),
    );
  return labelled(props, control, true, offered);
}

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
  Slider: slider,
  TagInput: tags,
  FileUpload: upload,
  Fieldset: fieldset,
  ListInput: listInput,
};
