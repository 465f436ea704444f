import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock } from "../../process/clock.ts";
import type { KeyPair } from "./authority.ts";
import { watchFiles } from "./changed-files.ts";

/** The certificate by which the servers of APIServices know this server. */
export interface ProxyClientCertificate extends Disposable {
  /** Undefined if this server has none. */
  readonly current: KeyPair | undefined;
}

/**
 * Opens the files of the flags, and follows their changes.
 * @throws Error that names the flag, for files that cannot be used
 */
export function openProxyClient(
  files: { readonly certificate: string; readonly key: string } | undefined,
  clock: Clock,
  onError: (error: unknown) => void,
): ProxyClientCertificate {
  if (files === undefined) return { current: undefined, [Symbol.dispose]: () => undefined };
  const read = (): KeyPair => ({
    certificate: readPem("--proxy-client-cert-file", files.certificate),
    key: readPem("--proxy-client-key-file", files.key),
  });
  let current = checked(read());
  const followed = watchFiles({
    clock,
    current: JSON.stringify(current),
    read: () => JSON.stringify(read()),
    onChanged: () => {
      current = checked(read());
    },
    onError,
  });
  return {
    get current() {
      return current;
    },
    [Symbol.dispose]: () => followed[Symbol.dispose](),
  };
}

/** @throws Error for a key of another certificate, as between the replacement of the two files */
function checked(pair: KeyPair): KeyPair {
  try {
    const certificate = new X509Certificate(pair.certificate);
    if (certificate.checkPrivateKey(createPrivateKey(pair.key))) return pair;
  } catch (error) {
    throw new Error(`--proxy-client-cert-file and its key cannot be used: ${(error as Error).message}`);
  }
  throw new Error("--proxy-client-key-file: the key does not belong to the certificate of --proxy-client-cert-file");
}

function readPem(flag: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`${flag}: cannot read ${file} (${(error as { code?: string }).code}): check the path`);
  }
}
