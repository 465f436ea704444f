import { readFileSync } from "node:fs";
import { StartupError } from "../../../process/startup-error.ts";

/** Paths of PEM files. */
export interface EtcdFiles {
  /** Authorities of the servers' certificates; undefined for those of the system. */
  readonly ca: string | undefined;
  /** Certificate and key of this client. */
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

export interface EtcdSecrets {
  readonly ca: Buffer | null;
  readonly certificate: Buffer | null;
  readonly key: Buffer | null;
}

/** Reads the files. They are read again for each connection, so renewed certificates are used. @throws StartupError */
export function readSecrets({ ca, certificate, key }: EtcdFiles): EtcdSecrets {
  return {
    ca: read("--etcd-cafile", ca),
    certificate: read("--etcd-certfile", certificate),
    key: read("--etcd-keyfile", key),
  };
}

function read(flag: string, path: string | undefined): Buffer | null {
  if (path === undefined) return null;
  try {
    return readFileSync(path);
  } catch (error) {
    throw new StartupError(`${flag}: cannot read ${path} (${(error as { code?: string }).code}): check the path`);
  }
}
