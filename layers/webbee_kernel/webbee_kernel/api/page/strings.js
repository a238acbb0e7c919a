// What the page says, in the language of its reader, and how it writes dates, times and numbers.

import { chosenLanguage } from "./preferences.js";
import de from "./words/de.js";
import en from "./words/en.js";
import es from "./words/es.js";
import fr from "./words/fr.js";
import ru from "./words/ru.js";

const ALL = { en, ru, de, es, fr };
const asked = () => navigator.languages ?? [navigator.language ?? "en"];
const primary = (tag) => tag.toLowerCase().split(/[-_]/)[0];

/** A language as it is written where the browser is at home: `en-DE` has a clock of 24 hours. */
function regional(language) {
  const { region } = new Intl.Locale(asked()[0] ?? "en").maximize();
  return region ? `${language}-${region}` : language;
}

let words = en;
let locale = "en";

/** Speaks the first of these BCP 47 tags that the page knows; the browser's region decides how dates look. */
export function speak(...tags) {
  const tag = [chosenLanguage(), ...tags, ...asked()].find((one) => one && Object.hasOwn(ALL, primary(one))) ?? "en";
  words = ALL[primary(tag)];
  locale = asked().find((one) => primary(one) === primary(tag)) ?? regional(primary(tag));
  document.documentElement.lang = primary(tag);
}

export function t(key, values = {}) {
  return saying(words)(key, values);
}

const saying =
  (own) =>
  (key, values = {}) =>
    (own[key] ?? en[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

/** What says the page's words in another language than the page's own; in the page's where it does not know it. */
export const speaking = (tag = "") => saying(ALL[primary(tag)] ?? words);

/** The languages that the page has, each in its own name. */
export const languages = () =>
  Object.keys(ALL).map((tag) => [tag, new Intl.DisplayNames(tag, { type: "language" }).of(tag) ?? tag]);

export const language = () => primary(document.documentElement.lang);

/** @type {(value: number, options?: Intl.NumberFormatOptions) => string} */
const number = (value, options) => value.toLocaleString(locale, options);
export { number };

/** An amount of money; an unknown currency is written behind it. */
export function money(amount, currency) {
  try {
    return number(Number(amount), { style: "currency", currency });
  } catch {
    return `${amount} ${currency}`;
  }
}

/** What a model's request cost: two digits of it, however little it is. */
export const dollars = (amount) =>
  number(amount, { style: "currency", currency: "USD", ...(amount < 0.1 && { maximumSignificantDigits: 2 }) });

const CLOCK = /** @type {const} */ ({ hour: "2-digit", minute: "2-digit" });
const DAY = /** @type {const} */ ({ day: "numeric", month: "short" });

/** A moment: the time alone where it is today, the year where it is not this one's. Text that is none stays. */
export function time(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return String(iso ?? "");
  const now = new Date();
  if (at.toDateString() === now.toDateString()) return at.toLocaleTimeString(locale, CLOCK);
  const year = at.getFullYear() === now.getFullYear() ? {} : { year: /** @type {const} */ ("numeric") };
  return at.toLocaleString(locale, { ...DAY, ...year, ...CLOCK });
}

/** A date without a time, written out: no time zone moves it to another day. */
export function day(iso) {
  const at = new Date(`${iso}T12:00:00Z`);
  return Number.isNaN(at.getTime()) ? iso : at.toLocaleDateString(locale, { ...DAY, year: "numeric", timeZone: "UTC" });
}

/** A moment with the clock and the offset that it came with: another's zone is not its reader's. */
function zoned(iso, zone) {
  const [, sign, hours, minutes] = zone;
  const there = new Date(`${iso.slice(0, 16)}Z`);
  if (Number.isNaN(there.getTime())) return iso;
  const year = there.getUTCFullYear() === new Date().getFullYear() ? {} : { year: /** @type {const} */ ("numeric") };
  const told = there.toLocaleString(locale, { ...DAY, ...year, ...CLOCK, timeZone: "UTC" });
  return `${told} UTC${sign}${hours}:${minutes}`;
}

const LOCAL = /^\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?$/; // without a zone: a clock on the reader's wall
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;
const OFFSET = /([+-])(\d\d):?(\d\d)$/;
const DATE = /^\d{4}-\d\d-\d\d$/;

/** The moment of a sentence in ISO 8601; any other text as it is. */
export const standard = (text) =>
  text.replace(/^(\S{10}) (\d\d:\d\d) UTC(\S*)$/, (_, day, clock, offset) => `${day}T${clock}${offset || "Z"}`);

/** A date or a moment as its reader writes it, or null for text that is neither. */
export function dated(text) {
  const iso = standard(text);
  const zone = MOMENT.test(iso) && OFFSET.exec(iso);
  if (zone && Number(zone[2] + zone[3])) return zoned(iso, zone);
  if (MOMENT.test(iso)) return time(iso);
  if (LOCAL.test(text)) return time(text.replace(" ", "T"));
  return DATE.test(text) ? day(text) : null;
}
