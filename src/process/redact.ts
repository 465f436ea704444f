/** The text that replaces a secret. */
export const redacted = "[redacted]";

/** The limit on the depth of a logged value, so that a line never holds a whole object tree. */
const depthMax = 6;
const itemsMax = 50;
const textLengthMax = 4_096;

/** Names of secret fields, in lower case without `-` and `_`. */
const secretNames: ReadonlySet<string> = new Set([
  "authorization",
  "proxyauthorization",
  "cookie",
  "setcookie",
  "token",
  "tokens",
  "accesstoken",
  "idtoken",
  "refreshtoken",
  "bearertoken",
  "bearer",
  "password",
  "passphrase",
  "secret",
  "clientsecret",
  "tokensecret",
  "credential",
  "credentials",
  "privatekey",
  "clientkeydata",
  "tlsprivatekey",
  "data",
  "stringdata",
  "binarydata",
  "body",
]);

/** Patterns of secrets in any text. */
const secretForms: readonly RegExp[] = [
  /\b(?:bearer|basic)[ \t]+[^\s"',;]+/gi,
  /\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*/g,
  /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g,
  /base64url\.bearer\.authorization\.[^\s"',;]+/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g,
  /([?&](?:access_token|token|password)=)[^&\s]*/gi,
];

/**
 * Returns the value in a form that is safe to log: secret fields and texts that look like credentials are replaced, bytes
 * become their length, and deep or long values are cut.
 */
export function redact(value: unknown): unknown {
  return redactAt(value, 0);
}

function redactAt(value: unknown, depth: number): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (depth >= depthMax) return "[deep]";
  if (value instanceof Error) return redactError(value, depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return redactEntries([...value].slice(0, itemsMax), depth);
  if (Symbol.iterator in value)
    return [...(value as Iterable<unknown>)].slice(0, itemsMax).map((item) => redactAt(item, depth + 1));
  return redactEntries(Object.entries(value).slice(0, itemsMax), depth);
}

function redactEntries(entries: readonly (readonly [unknown, unknown])[], depth: number): object {
  return Object.fromEntries(
    entries.map(([name, value]) => [String(name), isSecretName(String(name)) ? redacted : redactAt(value, depth + 1)]),
  );
}

function redactError(error: Error, depth: number): object {
  return {
    type: error.name,
    message: redactText(error.message),
    stack: (error.stack ?? "").split("\n").slice(0, itemsMax).map(redactText),
    ...(error.cause === undefined ? {} : { cause: redactAt(error.cause, depth + 1) }),
  };
}

/** Replaces texts that look like credentials, and cuts long text. */
export function redactText(text: string): string {
  let result = text.length > textLengthMax ? `${text.slice(0, textLengthMax)}…` : text;
  for (const form of secretForms) {
    result = result.replace(form, (_, kept: unknown) => (typeof kept === "string" ? kept + redacted : redacted));
  }
  return result;
}

function isSecretName(name: string): boolean {
  return secretNames.has(name.toLowerCase().replace(/[-_]/g, ""));
}

/** Writes control characters as `\x1b` or `\u2028`, so that client text cannot control a terminal. */
export function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}
