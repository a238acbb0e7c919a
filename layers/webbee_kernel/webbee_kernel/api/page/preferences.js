// What a reader chose for this browser: light or dark, and the page's language. Empty is the browser's own.

const THEME = "webbee.theme";
const LANGUAGE = "webbee.language";

const read = (key) => localStorage.getItem(key) ?? "";

function keep(key, value) {
  if (value) localStorage.setItem(key, value);
  else localStorage.removeItem(key);
}

export const theme = () => read(THEME);
export const chosenLanguage = () => read(LANGUAGE);

/** Show the page as it was chosen: `light`, `dark`, or as the system has it. */
export function applyTheme() {
  document.documentElement.style.colorScheme = theme();
}

export function setTheme(value) {
  keep(THEME, value);
  applyTheme();
}

export const setLanguage = (value) => keep(LANGUAGE, value);
