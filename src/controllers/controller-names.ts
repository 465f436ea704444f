import { StartupError } from "../process/startup-error.ts";

/** Optional controllers by upstream's names, those on by default first. */
const onByDefault = [
  "certificatesigningrequest-approving-controller",
  "certificatesigningrequest-cleaner-controller",
  "certificatesigningrequest-signing-controller",
  "clusterrole-aggregation-controller",
  "disruption-controller",
  "endpoints-controller",
  "endpointslice-controller",
  "endpointslice-mirroring-controller",
  "ephemeral-volume-controller",
  "garbage-collector-controller",
  "legacy-serviceaccount-token-cleaner-controller",
  "node-ipam-controller",
  "node-lifecycle-controller",
  "persistentvolume-protection-controller",
  "persistentvolumeclaim-protection-controller",
  "pod-garbage-collector-controller",
  "resourceclaim-controller",
  "resourcequota-controller",
  "root-ca-certificate-publisher-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "storageversion-garbage-collector-controller",
  "taint-eviction-controller",
  "ttl-after-finished-controller",
  "ttl-controller",
  "validatingadmissionpolicy-status-controller",
  "volumeattributesclass-protection-controller",
] as const;
const offByDefault = ["bootstrap-signer-controller", "token-cleaner-controller"] as const;
export const controllerNames = [...onByDefault, ...offByDefault] as const;
/** Older names that command lines still contain. */
const aliases: Readonly<Record<string, string>> = {
  bootstrapsigner: "bootstrap-signer-controller",
  "clusterrole-aggregation": "clusterrole-aggregation-controller",
  csrapproving: "certificatesigningrequest-approving-controller",
  csrcleaner: "certificatesigningrequest-cleaner-controller",
  csrsigning: "certificatesigningrequest-signing-controller",
  disruption: "disruption-controller",
  endpoint: "endpoints-controller",
  endpointslice: "endpointslice-controller",
  endpointslicemirroring: "endpointslice-mirroring-controller",
  "ephemeral-volume": "ephemeral-volume-controller",
  garbagecollector: "garbage-collector-controller",
  "legacy-service-account-token-cleaner": "legacy-serviceaccount-token-cleaner-controller",
  nodeipam: "node-ipam-controller",
  nodelifecycle: "node-lifecycle-controller",
  podgc: "pod-garbage-collector-controller",
  "pv-protection": "persistentvolume-protection-controller",
  "pvc-protection": "persistentvolumeclaim-protection-controller",
  resourcequota: "resourcequota-controller",
  "root-ca-cert-publisher": "root-ca-certificate-publisher-controller",
  serviceaccount: "serviceaccount-controller",
  "storage-version-gc": "storageversion-garbage-collector-controller",
  "serviceaccount-token": "serviceaccount-token-controller",
  tokencleaner: "token-cleaner-controller",
  ttl: "ttl-controller",
  "ttl-after-finished": "ttl-after-finished-controller",
  "validatingadmissionpolicy-status": "validatingadmissionpolicy-status-controller",
};

export type ControllerName = (typeof controllerNames)[number];

/**
 * Parses `--controllers`: `*` for the default ones, `name` to add one, `-name` to leave one out.
 * @throws StartupError for an unknown name
 */
export function parseControllers(text: string): ReadonlySet<ControllerName> {
  const items = text.split(",").map((item) => canonical(item.trim()));
  for (const item of items) {
    const name = item.startsWith("-") ? item.slice(1) : item;
    if (name === "*" || (controllerNames as readonly string[]).includes(name)) continue;
    throw new StartupError(
      `--controllers: ${JSON.stringify(name)} is not one of *, ${controllerNames.join(", ")}: check its spelling`,
    );
  }
  return new Set(
    controllerNames.filter((name) => {
      if (items.includes(name)) return true;
      return items.includes("*") && onByDefault.some((one) => one === name) && !items.includes(`-${name}`);
    }),
  );
}

function canonical(item: string): string {
  const [sign, name] = item.startsWith("-") ? ["-", item.slice(1)] : ["", item];
  return sign + (aliases[name] ?? name);
}
