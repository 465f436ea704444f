import type { APIServiceSpec } from "../../api/types/apiregistration-v1.ts";

/** The service that serves a group version, and the way to verify its certificate. */
export interface RemoteApi {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  /** Authorities of its certificate, PEM; undefined for those of the system. */
  readonly authorities: string | undefined;
  /** Whether any certificate is accepted. */
  readonly insecure: boolean;
}

const portDefault = 443;

/** Returns the service of an APIService; undefined if this server serves the group version. */
export function remoteApiOf({ service, caBundle = "", insecureSkipTLSVerify }: APIServiceSpec): RemoteApi | undefined {
  if (service === undefined || service === null) return undefined;
  const { namespace = "", name = "", port = portDefault } = service;
  const pem = Buffer.from(caBundle, "base64").toString("latin1");
  return {
    namespace,
    name,
    port,
    authorities: pem === "" ? undefined : pem,
    insecure: insecureSkipTLSVerify === true,
  };
}

/** Returns the name that the certificate of the service must have. */
export function serverNameOf({ name, namespace }: RemoteApi): string {
  return `${name}.${namespace}.svc`;
}
