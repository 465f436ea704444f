import { type MediaType, plainJson, type Representation } from "../api/codec/representation.ts";
import { status } from "../api/status.ts";
import { type Exchange, type HeaderList, header, type Reply } from "../request/exchange.ts";
import { areParametersServed, parseAccept } from "./negotiate.ts";

/** Documents such as discovery are served for GET, and for HEAD, which the listener turns into GET. */
export function requireGet({ request }: Exchange): void {
  if (request.method !== "GET" && request.method !== "HEAD") throw status.methodNotAllowed();
}

/** Returns SHA-512 in upper-case hex, the form of the entity tags of discovery and OpenAPI. */
export class DocumentHasher {
  readonly #hasher = new Bun.CryptoHasher("sha512");

  update(bytes: Uint8Array | string): this {
    this.#hasher.update(bytes);
    return this;
  }

  digest(): string {
    return this.#hasher.digest("hex").toUpperCase();
  }
}

/** Hashes a document at once. */
export function documentHash(bytes: Uint8Array | string): string {
  return new DocumentHasher().update(bytes).digest();
}

/** Returns 200 with the bytes and their tag, or 304 if the client already has them. */
export function taggedReply(exchange: Exchange, hash: string, bytes: Uint8Array, headers: HeaderList): Reply {
  const etag = `"${hash}"`;
  const all: HeaderList = [["etag", etag], ["vary", "Accept"], ...headers];
  if (isKnown(header(exchange.request, "if-none-match"), etag)) {
    return { kind: "reply", code: 304, headers: all.filter(([name]) => name !== "content-type"), body: [] };
  }
  return reply(bytes, all);
}

/** Returns a finished 200. */
export function reply(bytes: Uint8Array, headers: HeaderList): Reply {
  return { kind: "reply", code: 200, headers: [...headers, ["content-length", String(bytes.length)]], body: bytes };
}

/** Parameters that request another form. */
const restricting = ["as", "g", "v"];

/**
 * Chooses among media types. These documents have one form, so a clause that asks for another one is skipped. As
 * upstream, a clause may ask for a stream in a type that has one, and gets the document.
 */
export function negotiateDocument(accept: string | undefined, served: readonly MediaType[]): Representation {
  if (accept === undefined || accept.trim() === "") return plainJson;
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    if (restricting.some((name) => parameters.has(name))) continue;
    const found = served.find(
      (mediaType) =>
        (`${type}/${subtype}` === mediaType || (subtype === "*" && (type === "*" || type === "application"))) &&
        areParametersServed(parameters, mediaType),
    );
    if (found !== undefined) return { ...plainJson, mediaType: found };
  }
  throw status.notAcceptable(`only the following media types are accepted: ${served.join(", ")}`);
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.split(",").some((tag) => tag.trim() === etag || tag.trim() === `W/${etag}`) ?? false;
}
