import { X509Certificate } from "node:crypto";

type Data = Readonly<Record<string, string>>;

const certificate = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/**
 * Returns what is published, with what this server adds to it. All servers on one etcd join their authorities in this
 * way, so that extension servers accept the clients of each of them and no server overwrites another. An authority stays
 * until it expires.
 */
export function joinedAuthentication(published: Data, own: Data): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    const before = published[name] ?? "";
    joined[name] = name.endsWith("-ca-file") ? joinedCertificates(before, value) : joinedList(before, value);
  }
  return joined;
}

/** Keeps the text that is published if it needs no change. */
function joinedCertificates(before: string, own: string): string {
  const kept = certificatesIn(before);
  const known = new Set(kept.map(contentOf));
  const added = certificatesIn(own).filter((one) => !known.has(contentOf(one)));
  const valid = kept.filter((one) => !isExpired(one));
  return added.length === 0 && valid.length === kept.length ? before : `${[...valid, ...added].join("\n")}\n`;
}

function certificatesIn(bundle: string): string[] {
  return bundle.match(certificate) ?? [];
}

function contentOf(pem: string): string {
  return pem.replace(/\s/g, "");
}

function isExpired(pem: string): boolean {
  try {
    return new X509Certificate(pem).validToDate.getTime() < Date.now();
  } catch {
    // A text that cannot be read is left to the server that published it.
    return false;
  }
}

/** Joins lists that are JSON. */
function joinedList(before: string, own: string): string {
  const kept = listIn(before);
  const added = listIn(own).filter((name) => !kept.includes(name));
  return added.length === 0 && before !== "" ? before : JSON.stringify([...kept, ...added]);
}

function listIn(text: string): string[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
}
