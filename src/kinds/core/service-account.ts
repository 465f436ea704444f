import type { ServiceAccount } from "../../api/types/core-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { action, builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { tokenRequest } from "../authentication/token-request.ts";

const serviceAccountStrategy: Strategy<ServiceAccount> = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  prepareForCreate: keepNamesOfSecrets,
  prepareForUpdate: keepNamesOfSecrets,
};

export const serviceAccount = builtInKind("serviceaccounts", {
  endpoint: stored(serviceAccountStrategy),
  subresources: {
    token: action(({ registry, clock, tokens }) => {
      const core = (resource: string) => registry({ group: "", resource });
      return tokenRequest({
        ...tokens,
        serviceAccounts: core("serviceaccounts"),
        pods: core("pods"),
        secrets: core("secrets"),
        nodes: core("nodes"),
        clock,
      });
    }),
  },
  descriptions: {
    "authentication/v1.TokenRequest": { "": "Asks for a token of a service account." },
    "authentication/v1.TokenRequestSpec": {
      "": "The wanted token.",
      audiences: "Audiences that may accept the token.",
      expirationSeconds: "Lifetime in seconds; 3600 by default.",
      boundObjectRef: "The token is valid as long as this object exists.",
    },
    "authentication/v1.TokenRequestStatus": {
      "": "The token.",
      token: "The token itself.",
      expirationTimestamp: "When it ends.",
    },
    "core/v1.ServiceAccount": {
      "": "An identity for programs, which pods run under.",
      secrets: "Secrets that pods under this account may use.",
      imagePullSecrets: "Secrets for pulling the images of pods under this account.",
      automountServiceAccountToken: "Whether pods get a token of the account; a pod can say otherwise.",
    },
  },
});

/** Only the name of a reference counts. Secrets are in the account's own namespace. */
function keepNamesOfSecrets(account: ServiceAccount): void {
  if (account.secrets !== undefined) account.secrets = account.secrets.map(({ name = "" }) => ({ name }));
}
