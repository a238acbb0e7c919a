// The HTTP API with the token of who signed in.

// Names of local users, which are no secrets, outlive a reload; a real token is held in memory only.
export const TOKEN_KEY = "webbee.token";
/** Whether the server runs on the reader's own machine. */
export const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
const DEADLINE_MS = 35_000;

/** What the API refused, or what never reached it (status 0). `wait` are seconds until a limit is free again. */
export class ApiError extends Error {
  constructor(status, code, message, wait = 0) {
    super(message);
    this.status = status;
    this.code = code;
    this.wait = wait;
  }
}

let held = "";
/** @type {(() => Promise<boolean>) | null} */
let renewal = null;

export function token() {
  return held || (sessionStorage.getItem(TOKEN_KEY) ?? "");
}

/** Hold a token; `kept` is the name of a local user, which outlives a reload. */
export function setToken(value, kept = false) {
  held = kept ? "" : value;
  if (kept && value && isLocal) sessionStorage.setItem(TOKEN_KEY, value);
  else sessionStorage.removeItem(TOKEN_KEY);
}

/** What gets a new token where the held one has ended: true when there is one. */
export function renewWith(how) {
  renewal = how;
}

/** @param {{body?: object, headers?: Record<string, string>, using?: string}} options */
export async function request(method, path, options = {}) {
  try {
    return await send(method, path, options);
  } catch (error) {
    if (error.status !== 401 || options.using || !renewal || !(await renewal())) throw error;
    return send(method, path, options);
  }
}

async function send(method, path, options) {
  const { body, headers, using } = options;
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${using ?? token()}`,
        "accept-language": document.documentElement.lang, // what apps say here, they say in the page's language
        ...(body ? { "content-type": "application/json" } : {}),
        ...headers,
      },
      body: body ? JSON.stringify(body) : undefined,
      signal: AbortSignal.timeout(DEADLINE_MS),
      cache: "no-store",
      credentials: "omit",
    });
  } catch (error) {
    throw new ApiError(0, "network", error.name === "TimeoutError" ? "timeout" : "network");
  }
  if (!response.ok) throw await failure(response);
  return response;
}

/** @param {string} method @param {string} path @param {object} [body] @returns {Promise<any>} */
export async function api(method, path, body) {
  return (await request(method, path, { body })).json();
}

async function failure(response) {
  let found;
  try {
    found = await response.json();
  } catch {
    found = {}; // not JSON: a proxy answered
  }
  return refusal(response.status, found);
}

/** The error of an answer's or a frame's body. */
export function refusal(status, found) {
  const error = found.error ?? found.message;
  if (error && typeof error === "object") {
    return new ApiError(status, error.code ?? "", error.message ?? "", error.retry_after ?? 0);
  }
  return new ApiError(status, found.error_code ?? "", String(error ?? `HTTP ${status}`));
}
