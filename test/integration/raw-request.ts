import { connect } from "node:tls";

export interface RawAnswer {
  readonly code: number;
  /** Head and body as received. */
  readonly text: string;
}

export interface RawOptions {
  readonly port: number;
  readonly ca: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
  readonly pair?: { readonly certificate: string; readonly key: string } | undefined;
}

/** Sends one HTTP/1.1 request on a separate connection. Headers are sent unchanged, byte for byte. */
export async function rawRequest(options: RawOptions): Promise<RawAnswer> {
  const { port, ca, method = "GET", path = "/", headers = [], body = "", pair } = options;
  const credentials = pair === undefined ? {} : { cert: pair.certificate, key: pair.key };
  const socket = connect({ host: "127.0.0.1", port, ca, ALPNProtocols: ["http/1.1"], ...credentials });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    if (isComplete(text)) resolve(text);
  });
  socket.on("error", () => resolve(text));
  socket.on("close", () => resolve(text));
  socket.write(`${method} ${path} HTTP/1.1\r\nhost: kubernetes\r\n${length}${lines}\r\n${body}`, "latin1");
  const whole = await promise;
  socket.destroy();
  return { code: Number(whole.split(" ", 2)[1] ?? 0), text: whole };
}

function isComplete(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = /^content-length: (\d+)\r$/im.exec(text.slice(0, end + 2))?.[1];
  return length === undefined ? text.endsWith("0\r\n\r\n") : text.length >= end + 4 + Number(length);
}

export type Sent = NonNullable<RawOptions["headers"]>;

export function bearer(token: string): Sent {
  return [["authorization", `Bearer ${token}`]];
}

/**
 * Returns the sender's user name according to the server; `system:anonymous` if the sender may not ask, or the code of a
 * refusal.
 */
export async function rawWhoAmI(
  { port, ca }: Pick<RawOptions, "port" | "ca">,
  headers: Sent,
  pair?: RawOptions["pair"],
): Promise<string | number> {
  const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const all = [["content-type", "application/json"], ...headers] as const;
  const { code, text } = await rawRequest({ port, ca, method: "POST", path, headers: all, body, pair });
  if (code !== 201) return /"message":"[^"]*User \\"system:anonymous\\"/.test(text) ? "system:anonymous" : code;
  return JSON.parse(text.slice(text.indexOf("\r\n\r\n"))).status.userInfo.username;
}
