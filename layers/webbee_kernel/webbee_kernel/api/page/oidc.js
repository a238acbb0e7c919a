// OpenID Connect on the page: authorization code with PKCE (RFC 7636). Tokens are held in memory only; what survives
// the way to the issuer and back is one attempt's verifier, state and nonce, in the tab's session storage.

import { setToken, renewWith } from "./api.js";
import { standing } from "./dom.js";

const ATTEMPT = "webbee.sign-in";
const SEEN = "webbee.signed-in"; // this tab had a session at the issuer: after a reload it is asked for without a word
const EARLY_S = 60;

/** What the deployment says: issuer and client, null where it names none. @type {any} */
const settings = read();
/** @type {any} */
let metadata = null;
let held = { id: "", refresh: "" };
let timer = 0;

function read() {
  const found = document.getElementById("sign-in-settings");
  return found ? JSON.parse(found.textContent) : null;
}

export const configured = () => settings !== null;

/** Whether to ask the issuer at once, without showing a form: this tab was signed in before a reload. */
export const remembered = () => configured() && sessionStorage.getItem(SEEN) !== null;

async function discovered() {
  metadata ??= await (await fetch(`${settings.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`)).json();
  return metadata;
}

const random = () => encoded(crypto.getRandomValues(new Uint8Array(32)));

function encoded(bytes) {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

const here = () => location.origin + location.pathname;

/** Leave for the issuer; `silent` comes back with an error instead of showing a form. */
export async function begin(silent = false) {
  const { authorization_endpoint: endpoint } = await discovered();
  const attempt = { verifier: random(), state: random(), nonce: random() };
  sessionStorage.setItem(ATTEMPT, JSON.stringify(attempt));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(attempt.verifier));
  const query = {
    response_type: "code",
    client_id: settings.client,
    redirect_uri: here(),
    scope: "openid email profile",
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: encoded(new Uint8Array(digest)),
    code_challenge_method: "S256",
    ...(silent ? { prompt: "none" } : {}),
  };
  location.assign(`${endpoint}?${new URLSearchParams(query)}`);
}

/**
 * What the issuer sent this page back with: null where the page was opened otherwise, "" where nobody is signed in
 * there, the token otherwise. Raises where the answer is not to this tab's question.
 */
export async function returned() {
  const query = new URLSearchParams(location.search);
  if (!configured() || !query.has("state")) return null;
  const attempt = JSON.parse(sessionStorage.getItem(ATTEMPT) ?? "{}");
  sessionStorage.removeItem(ATTEMPT);
  history.replaceState(null, "", here());
  if (query.get("state") !== attempt.state) throw new Error("state");
  if (!query.has("code")) {
    sessionStorage.removeItem(SEEN);
    if (["login_required", "interaction_required", "access_denied"].includes(query.get("error") ?? "")) return "";
    throw new Error(query.get("error_description") ?? query.get("error") ?? "code");
  }
  await exchange({
    grant_type: "authorization_code",
    code: query.get("code"),
    redirect_uri: here(),
    code_verifier: attempt.verifier,
  });
  if (claims(held.id).nonce !== attempt.nonce) throw new Error("nonce");
  return taken();
}

function taken() {
  sessionStorage.setItem(SEEN, "1");
  setToken(held.id);
  renewWith(renew);
  return held.id;
}

async function exchange(body) {
  const { token_endpoint: endpoint } = await discovered();
  const response = await fetch(endpoint, {
    method: "POST",
    body: new URLSearchParams({ ...body, client_id: settings.client }),
    credentials: "omit",
  });
  const found = await response.json();
  if (!response.ok || !found.id_token) throw new Error(found.error_description ?? found.error ?? "token");
  held = { id: found.id_token, refresh: found.refresh_token ?? held.refresh };
  clearTimeout(timer);
  const left = claims(held.id).exp - Date.now() / 1000 - EARLY_S;
  if (held.refresh) timer = window.setTimeout(() => void renew(), Math.max(left, 1) * 1000);
}

/** A new token for one that ends; false where only a person can help. One request, however many ask. */
/** @type {Promise<boolean> | null} */
let renewing = null;
function renew() {
  renewing ??= exchange({ grant_type: "refresh_token", refresh_token: held.refresh })
    .then(
      () => Boolean(taken()),
      () => false,
    )
    .finally(() => (renewing = null));
  return held.refresh ? renewing : Promise.resolve(false);
}

function claims(idToken) {
  const part = idToken.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (c) => c.charCodeAt(0))));
}

/** End the session here and, where the issuer has a page for it, there: true when this page is being left. */
export async function end() {
  const hint = held.id;
  held = { id: "", refresh: "" };
  clearTimeout(timer);
  renewWith(null);
  sessionStorage.removeItem(SEEN);
  if (!configured() || !hint) return false;
  const { end_session_endpoint: endpoint } = await discovered();
  if (!endpoint) return false;
  const query = {
    id_token_hint: hint,
    client_id: settings.client,
    post_logout_redirect_uri: here(),
    logout_uri: here(), // Amazon Cognito's name for it
  };
  standing("app").replaceChildren();
  location.assign(`${endpoint}?${new URLSearchParams(query)}`);
  return true;
}
