import type { KeyPair } from "../../access/certificates/authority.ts";
import type { KubeconfigServer } from "../../client/kubeconfig.ts";

/** Returns the same server, with the current client certificate for each request. New connections use a renewed one. */
export function rotatingServer(server: KubeconfigServer, current: () => KeyPair | undefined): KubeconfigServer {
  return {
    url: server.url,
    async proof() {
      const { tls, authorization } = await server.proof();
      const pair = current();
      return pair === undefined
        ? { tls, authorization }
        : { tls: { ...tls, cert: pair.certificate, key: pair.key }, authorization };
    },
    renew: () => false,
  };
}
