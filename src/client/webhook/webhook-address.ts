import type { WebhookClientConfig } from "../../api/types/admissionregistration-v1.ts";
import { requireCertificates } from "../require-certificates.ts";

/** The parts of a client configuration that say where a webhook is and who signs its certificate. */
export type WebhookLocation =
  | { readonly kind: "url"; readonly url: URL }
  | { readonly kind: "service"; readonly namespace: string; readonly name: string; readonly port: number };

export interface WebhookAddress {
  readonly location: WebhookLocation;
  /** `https://host:port/path` as messages name it. */
  readonly url: string;
  /** `host:port`, by which credentials are found. */
  readonly authority: string;
  /** PEM; undefined for the authorities of the system. */
  readonly ca: string | undefined;
}

const httpsPort = 443;

/** @throws Error with upstream's text for a client configuration that cannot be used */
export function webhookAddress({ url, service, caBundle }: WebhookClientConfig): WebhookAddress {
  const ca = certificatesIn(caBundle);
  if (service !== undefined && service !== null) {
    const { namespace, name, path = "", port = httpsPort } = service;
    const authority = `${name}.${namespace}.svc:${port}`;
    const location = { kind: "service", namespace, name, port } as const;
    return { location, url: `https://${authority}${cleanPath(path)}`, authority, ca };
  }
  if (url === undefined || url === "") throw new Error("webhook configuration must have either service or URL");
  if (!URL.canParse(url)) throw new Error(`Unparsable URL: parse ${JSON.stringify(url)}: invalid URL`);
  const parsed = new URL(url);
  const authority = parsed.port === "" ? `${parsed.hostname}:${httpsPort}` : parsed.host;
  const text = `https://${parsed.host}${cleanPath(parsed.pathname)}`;
  return { location: { kind: "url", url: parsed }, url: text, authority, ca };
}

/** Drops empty segments and a slash at the end. */
function cleanPath(path: string): string {
  return `/${path
    .split("/")
    .filter((segment) => segment !== "" && segment !== ".")
    .join("/")}`;
}

/** @throws Error for a bundle without certificates */
function certificatesIn(bundle: string | undefined): string | undefined {
  const pem = Buffer.from(bundle ?? "", "base64").toString("latin1");
  if (pem.trim() === "") return undefined;
  requireCertificates(pem);
  return pem;
}
