/** The parts of a proxied name: `https:web:8443` is port 8443 of web over TLS. */
export interface SplitName {
  readonly scheme: "" | "http" | "https";
  readonly name: string;
  /** A number or a name; "" for none. */
  readonly port: string;
}

/** Reads `name`, `name:port` and `scheme:name:port`; undefined for anything else. */
export function splitName(text: string): SplitName | undefined {
  const parts = text.split(":");
  if (parts.length === 3) {
    const [scheme = "", name = "", port = ""] = parts;
    if (name === "" || (scheme !== "" && scheme !== "http" && scheme !== "https")) return undefined;
    return { scheme, name, port };
  }
  const [name = "", port = "", ...more] = parts;
  return name === "" || more.length > 0 ? undefined : { scheme: "", name, port };
}
