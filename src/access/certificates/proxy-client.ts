import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Clock } from "../../process/clock.ts";
import type { KeyPair } from "./authority.ts";
import { watchFiles } from "./changed-files.ts";
import { readPem } from "./read-pem.ts";

/** The certificate by which the servers of APIServices recognise this server. */
export class ProxyClient implements Disposable {
  readonly #files: { readonly certificate: string; readonly key: string } | undefined;
  readonly #followed: Disposable | undefined;
  #pair: KeyPair | undefined;
  #other: (() => KeyPair) | undefined;

  /**
   * Opens the files of the flags, and follows their changes.
   * @throws Error that names the flag, for unusable files
   */
  constructor(
    files: { readonly certificate: string; readonly key: string } | undefined,
    clock: Clock,
    onError: (error: unknown) => void,
  ) {
    this.#files = files;
    if (files === undefined) return;
    const use = () => {
      this.#pair = checked(readPair(files));
    };
    use();
    const read = () => JSON.stringify(readPair(files));
    this.#followed = watchFiles({ clock, current: JSON.stringify(this.#pair), read, onChanged: use, onError });
  }

  /** Undefined if this server has none. */
  get current(): KeyPair | undefined {
    return this.#pair ?? this.#other?.();
  }

  /** Uses another certificate if flags name none. */
  offer(other: () => KeyPair): void {
    if (this.#files === undefined) this.#other = other;
  }

  [Symbol.dispose](): void {
    this.#followed?.[Symbol.dispose]();
  }
}

function readPair({ certificate, key }: { readonly certificate: string; readonly key: string }): KeyPair {
  return {
    certificate: readPem("--proxy-client-cert-file", certificate),
    key: readPem("--proxy-client-key-file", key),
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
