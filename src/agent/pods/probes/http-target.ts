import type { Container, HTTPGetAction } from "../../../api/types/core-v1.ts";
import { dialErrorText } from "../../../client/dial-error.ts";

/** Redirects that are followed, as by upstream. Those to other hosts never are. */
const redirectsMax = 10;

export interface HttpTarget {
  readonly url: URL;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The answer to a probe or hook. Its body is not read: it must not reach an Event. */
export interface HttpAnswer {
  readonly code: number;
}

/**
 * Returns where a probe or hook sends its request.
 * @throws Error if a port has no such name or the pod has no address
 */
export function httpTarget(
  { host, path = "", port, scheme = "HTTP", httpHeaders = [] }: HTTPGetAction,
  container: Container,
  address: string | undefined,
  userAgent: string,
): HttpTarget {
  const name = host || address;
  if (name === undefined) throw new Error("the pod has no address");
  const number = portNumber(port, container);
  const authority = name.includes(":") ? `[${name}]:${number}` : `${name}:${number}`;
  const url = new URL(`${scheme.toLowerCase()}://${authority}`);
  const [pathname = "", ...query] = path.split("?");
  url.pathname = pathname;
  if (query.length > 0) url.search = query.join("?");
  const given = httpHeaders.map(({ name: header, value = "" }) => [header, value] as const);
  const has = (wanted: string) => given.some(([header]) => header.toLowerCase() === wanted);
  const added: [string, string][] = [];
  if (!has("user-agent")) added.push(["User-Agent", `${userAgent}/1.36`]);
  if (!has("accept")) added.push(["Accept", "*/*"]);
  return { url, headers: [...added, ...given] };
}

/** Sends a GET request. Certificates are not verified, because nothing tells which one to expect. */
export async function requestTarget({ url, headers }: HttpTarget, timeoutMs: number): Promise<HttpAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  let place = url;
  for (let redirects = 0; ; redirects++) {
    const answer = await send(place, headers, signal);
    const code = answer.status;
    const location = answer.headers.get("location");
    await answer.body?.cancel();
    if (code < 300 || code >= 400 || location === null || code === 304) return { code };
    const next = new URL(location, place);
    if (next.hostname !== url.hostname) return { code };
    if (redirects >= redirectsMax) throw new Error(`Get ${JSON.stringify(next.href)}: stopped after 10 redirects`);
    place = next;
  }
}

async function send(url: URL, headers: HttpTarget["headers"], signal: AbortSignal): Promise<Response> {
  const fields = new Headers();
  for (const [name, value] of headers) fields.append(name, value);
  try {
    const tls = { rejectUnauthorized: false };
    return await fetch(url, {
      headers: fields,
      redirect: "manual",
      signal,
      tls,
      keepalive: false,
      proxy: "",
    } as RequestInit);
  } catch (error) {
    const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
    const reason = signal.aborted
      ? "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
      : dialErrorText(error as Error, { host: url.hostname.replace(/^\[|\]$/g, ""), port });
    throw new Error(`Get ${JSON.stringify(url.href)}: ${reason}`, { cause: error });
  }
}

/**
 * Returns the number of a port, which may be given by its name in the container.
 * @throws Error
 */
export function portNumber(port: string | number, { ports = [] }: Container): number {
  const number =
    typeof port === "number" ? port : (ports.find(({ name }) => name === port)?.containerPort ?? Number(port));
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number;
  if (typeof port === "string" && Number.isNaN(number)) throw new Error(`couldn't find port: ${JSON.stringify(port)}`);
  throw new Error(`invalid port number: ${port}`);
}
