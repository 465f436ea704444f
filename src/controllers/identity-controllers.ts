import type { TokenIssuer } from "../access/authentication/service-account/token-issuer.ts";
import type { Authorizer } from "../access/authorization/authorizer.ts";
import type { KeyPair } from "../access/certificates/authority.ts";
import type { Client } from "../client/client.ts";
import { certificateSigningRequest } from "../kinds/certificates/certificate-signing-request.ts";
import type { Clock } from "../process/clock.ts";
import { strategyOf } from "../registry/kind.ts";
import type { Registries } from "../registry/registries.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store } from "../storage/store.ts";
import { startBootstrapSigner, startTokenCleaner } from "./bootstrap-tokens.ts";
import { startCertificateApprover } from "./certificates/certificate-approver.ts";
import { startCertificateCleaner } from "./certificates/certificate-cleaner.ts";
import { startCertificateSigner } from "./certificates/certificate-signer.ts";
import type { ControllerName } from "./controller-names.ts";
import {
  type ExtensionAuthenticationParts,
  extensionAuthentication,
  type PublishedFrontProxy,
} from "./extension-authentication.ts";
import { startLegacyTokenCleaner } from "./legacy-token-cleaner.ts";
import { startTrackingStart } from "./legacy-token-tracking.ts";
import { startPublishedConfigMap } from "./published-config-map.ts";
import { startTokenSecrets } from "./token-secrets.ts";
import type { TrustBundle } from "./trust-bundle.ts";
import type { QueueSource } from "./work-queue.ts";

export interface IdentityControllersParts extends QueueSource {
  readonly registries: Registries;
  /** Clients that act as the server itself. */
  readonly client: Client;
  readonly store: Store;
  readonly clock: Clock;
  readonly authorizer: Authorizer;
  readonly issuer: TokenIssuer;
  /** Returns the authority that signs client certificates. Called for each one, because the authority is renewed. */
  readonly authority: () => KeyPair;
  /** Returns the authorities of clients, PEM. */
  readonly clientAuthorities: () => string;
  readonly frontProxy: PublishedFrontProxy | undefined;
  readonly ownFrontProxy: ExtensionAuthenticationParts["ownFrontProxy"];
  readonly ca: TrustBundle;
  /** Whether the store is on etcd, which kube-apiservers may share; by default not. */
  readonly isOnEtcd?: boolean;
  readonly bootstrapSignerKey: "token" | "secret";
  readonly controllers: ReadonlySet<ControllerName>;
  readonly onError: (error: unknown) => void;
}

/** Maximum age of published authorities. Other code follows their files. */
const authoritiesRefreshMs = 60_000;

/**
 * Starts the controllers that issue identities: requested certificates, tokens in Secrets, and tokens for new machines.
 */
export function startIdentityControllers(parts: IdentityControllersParts): Disposable {
  const { registries, controllers } = parts;
  const running = new DisposableStack();
  const find = (group: string, resource: string): Registry | undefined => registries.find({ group, resource });
  const requests = find("certificates.k8s.io", "certificatesigningrequests");
  if (requests !== undefined) {
    const requestStatus = strategyOf(certificateSigningRequest, "status");
    const requestApproval = strategyOf(certificateSigningRequest, "approval");
    const starts = [
      ["certificatesigningrequest-approving-controller", startCertificateApprover],
      ["certificatesigningrequest-signing-controller", startCertificateSigner],
      ["certificatesigningrequest-cleaner-controller", startCertificateCleaner],
    ] as const;
    for (const [name, start] of starts) {
      if (controllers.has(name)) running.use(start({ ...parts, requests, requestStatus, requestApproval }));
    }
  }
  const [secrets, configMaps, serviceAccounts] = ["secrets", "configmaps", "serviceaccounts"].map((name) =>
    find("", name),
  );
  if (secrets === undefined || configMaps === undefined || serviceAccounts === undefined) return running;
  if (controllers.has("serviceaccount-token-controller")) {
    running.use(startTokenSecrets({ ...parts, secrets, serviceAccounts }));
  }
  running.use(startTrackingStart(parts));
  const pods = find("", "pods");
  if (controllers.has("legacy-serviceaccount-token-cleaner-controller") && pods !== undefined) {
    running.use(startLegacyTokenCleaner({ ...parts, secrets, configMaps, serviceAccounts, pods }));
  }
  const name = "extension-apiserver-authentication";
  const namespace = "kube-system";
  const data = extensionAuthentication(parts);
  running.use(
    startPublishedConfigMap({
      ...parts,
      namespace,
      name,
      queueName: "cluster_authentication_trust_controller",
      data,
      refreshMs: authoritiesRefreshMs,
      follow: (run) => parts.ca.follow(run),
    }),
  );
  const bootstrap = { ...parts, secrets, configMaps, signWith: parts.bootstrapSignerKey };
  if (controllers.has("token-cleaner-controller")) running.use(startTokenCleaner(bootstrap));
  if (controllers.has("bootstrap-signer-controller")) running.use(startBootstrapSigner(bootstrap));
  return running;
}
