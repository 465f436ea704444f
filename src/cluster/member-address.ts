import { isIP } from "node:net";

/** The address on which a member listens for other members. */
export interface PeerAddress {
  readonly host: string;
  readonly port: number;
}

const nameLengthMax = 63;
const wildcards: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/**
 * Parses `host:port` or `[v6]:port` that others can connect to.
 * @throws Error that states the problem, for use after the name of a flag or field
 */
export function parsePeerAddress(text: string): PeerAddress {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const [, v6, plain, digits = ""] = match ?? [];
  const host = v6 ?? plain ?? "";
  const port = Number(digits);
  if (match === null || !(v6 === undefined ? isHost(host) : isIP(host) === 6)) {
    throw new Error(`${JSON.stringify(text)} is not <host>:<port>, such as 10.0.0.1:7380`);
  }
  if (port < 1 || port > 65_535) throw new Error(`${JSON.stringify(text)} has no port from 1 to 65535`);
  if (wildcards.has(host)) throw new Error(`others cannot connect to ${host}: give an address of this machine`);
  return { host, port };
}

/** Formats an address in the form that `parsePeerAddress` reads. */
export function peerAddressText({ host, port }: PeerAddress): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/**
 * Parses `https://host:port` without a path.
 * @throws Error that states the problem, for use after the name of a flag or field
 */
export function parseClientUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && /^https:\/\/[^/?#@]+\/?$/i.test(text);
  if (!isPlain || url.protocol !== "https:") {
    throw new Error(`${JSON.stringify(text)} is not https://<host>:<port>, such as https://10.0.0.1:6443`);
  }
  if (wildcards.has(hostOf(url.origin)))
    throw new Error(`others cannot connect to ${url.host}: give an address of this machine`);
  return url.origin;
}

/** Returns the host of a URL, without the brackets of IPv6. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

/** Parses a member's name. @throws Error that states the problem, for use after the name of a flag or field */
export function parseMemberName(text: string): string {
  if (text.length <= nameLengthMax && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(text)) return text;
  throw new Error(
    `${JSON.stringify(text)} is not a name of at most ${nameLengthMax} lower-case letters, digits, "-" and "." between them`,
  );
}

/** Reports whether the text is a DNS name or an IP address. IPv6 has no brackets. */
export function isHost(text: string): boolean {
  if (isIP(text) === 6) return true;
  if (/^[\d.]+$/.test(text)) return isIP(text) === 4;
  return (
    text.length <= 253 && text.split(".").every((label) => /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/.test(label))
  );
}
