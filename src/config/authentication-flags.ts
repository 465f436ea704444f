import type { Flag } from "./flags.ts";

const group = "Authentication and authorization";

/** The part of the table of flags that says who a request comes from. */
export const authenticationFlags = {
  "client-ca-file": { type: "text", group, value: "file", help: "further authorities for client certificates, PEM" },
  "token-auth-file": {
    type: "text",
    group,
    value: "file",
    help: 'static bearer tokens, CSV: token,user,uid,"group1,group2"',
  },
  "anonymous-auth": {
    type: "boolean",
    group,
    help: "let requests without credentials through as system:anonymous (default: unless AlwaysAllow is a mode)",
  },
  "enable-bootstrap-token-auth": {
    type: "boolean",
    default: false,
    group,
    help: "accept the tokens of Secrets of type bootstrap.kubernetes.io/token in kube-system",
  },
  "service-account-issuer": {
    type: "texts",
    group,
    value: "url",
    help: "issuer of service account tokens; repeat it to accept tokens of former ones (default https://kubernetes.default.svc.cluster.local)",
  },
  "service-account-signing-key-file": {
    type: "text",
    group,
    value: "file",
    help: "private key that signs service account tokens, PEM; made by quorate when absent",
  },
  "service-account-private-key-file": {
    type: "text",
    group,
    value: "file",
    help: "another name of --service-account-signing-key-file",
  },
  "service-account-key-file": {
    type: "texts",
    group,
    value: "file",
    help: "further keys whose service account tokens are accepted, PEM; repeatable",
  },
  "service-account-lookup": {
    type: "boolean",
    default: true,
    group,
    help: "tokens of Secrets end with their Secret",
  },
  "service-account-max-token-expiration": {
    type: "duration",
    default: 0,
    group,
    value: "duration",
    help: "longest life of a requested token; 0 for no limit",
  },
  "service-account-extend-token-expiration": {
    type: "boolean",
    default: true,
    group,
    help: "tokens that are mounted into pods live longer than they say, for clients that do not read them again",
  },
  "service-account-jwks-uri": {
    type: "text",
    group,
    value: "url",
    help: "where the OpenID discovery document says the keys are (default: this server)",
  },
  "api-audiences": {
    type: "texts",
    group,
    value: "names",
    help: "audiences that a token for this server may name (default: the issuer)",
  },
  "requestheader-client-ca-file": {
    type: "text",
    group,
    value: "file",
    help: "authority of authenticating proxies, PEM",
  },
  "requestheader-allowed-names": {
    type: "texts",
    group,
    value: "names",
    help: "common names of authenticating proxies; none for every certificate of their authority",
  },
  "requestheader-username-headers": {
    type: "texts",
    group,
    value: "names",
    help: "headers with the user's name; the first that is not empty counts",
  },
  "requestheader-uid-headers": { type: "texts", group, value: "names", help: "headers with the user's uid" },
  "requestheader-group-headers": { type: "texts", group, value: "names", help: "headers with the user's groups" },
  "requestheader-extra-headers-prefix": {
    type: "texts",
    group,
    value: "names",
    help: "prefixes of headers with further attributes of the user",
  },
  "authentication-token-webhook-config-file": {
    type: "text",
    group,
    value: "file",
    help: "kubeconfig of a service that reviews bearer tokens",
  },
  "authentication-token-webhook-version": {
    type: "choices",
    default: ["v1beta1"],
    allowed: ["v1", "v1beta1"],
    group,
    value: "version",
    help: "version of the TokenReviews that are sent to it",
  },
  "authentication-token-webhook-cache-ttl": {
    type: "duration",
    default: 120_000,
    group,
    value: "duration",
    help: "how long its answers are kept",
  },
} as const satisfies Record<string, Flag>;
