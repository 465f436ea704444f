import type { Flag } from "./flag.ts";

const group = "API";

/** Flags of connections to the Services of webhooks and APIServices. */
export const aggregationFlags = {
  "enable-aggregator-routing": {
    type: "boolean",
    default: false,
    group,
    help: "connect to the endpoints of the Service of a webhook or APIService instead of its cluster IP",
  },
  "proxy-client-cert-file": {
    type: "text",
    group,
    value: "file",
    help: "client certificate for the servers of APIServices, PEM; reread when it changes",
  },
  "proxy-client-key-file": {
    type: "text",
    group,
    value: "file",
    help: "private key of --proxy-client-cert-file, PEM",
  },
  "aggregator-reject-forwarding-redirect": {
    type: "boolean",
    default: true,
    group,
    help: "answer 502 if the server of an APIService redirects, instead of forwarding the redirect",
  },
} as const satisfies Record<string, Flag>;
