import { isJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";

/**
 * A reference such as `secrets/ns/a` to an object that a pod or a volume uses. Names have no slash, so keys are unique.
 */
export type ReferenceKey = string;

export function referenceKey(resource: string, namespace: string, name: string): ReferenceKey {
  return `${resource}/${namespace}/${name}`;
}

/** Fields of a volume's source with the name of a secret in its namespace. */
const secretFields: readonly (readonly [source: string, field: string])[] = [
  ["secret", "secretName"],
  ["azureFile", "secretName"],
];
/** Fields of a volume's source with a reference to such a secret. */
const secretRefs: readonly (readonly [source: string, field: string])[] = [
  ["cephfs", "secretRef"],
  ["cinder", "secretRef"],
  ["flexVolume", "secretRef"],
  ["rbd", "secretRef"],
  ["scaleIO", "secretRef"],
  ["iscsi", "secretRef"],
  ["storageos", "secretRef"],
  ["csi", "nodePublishSecretRef"],
];
/** References of a persistent volume's driver to further secrets that a node needs. */
const driverRefs: readonly (readonly [source: string, field: string])[] = [
  ["csi", "nodeStageSecretRef"],
  ["csi", "nodeExpandSecretRef"],
];

/** Returns the objects that running the pod requires: secrets, config maps, claims and its account. */
export function podReferences(pod: JsonObject, namespace: string, podName: string): ReferenceKey[] {
  const spec = fields(pod["spec"]);
  const keys = new Set<ReferenceKey>();
  const use = (resource: string, name: JsonValue | undefined) => {
    if (typeof name === "string" && name !== "") keys.add(referenceKey(resource, namespace, name));
  };
  use("serviceaccounts", spec["serviceAccountName"]);
  for (const { name } of list(spec["imagePullSecrets"])) use("secrets", name);
  for (const volume of list(spec["volumes"])) useOfVolume(volume, podName, use);
  for (const container of containers(spec)) useOfContainer(container, use);
  for (const { resourceClaimName } of list(spec["resourceClaims"])) use("resourceclaims", resourceClaimName);
  for (const { resourceClaimName } of list(fields(pod["status"])["resourceClaimStatuses"])) {
    use("resourceclaims", resourceClaimName);
  }
  return [...keys];
}

/** Returns the claim that a persistent volume is bound to, and the secrets that its nodes need. */
export function volumeReferences(volume: JsonObject): { claim: ReferenceKey | undefined; secrets: ReferenceKey[] } {
  const spec = fields(volume["spec"]);
  const { namespace, name } = fields(spec["claimRef"]);
  const claimNamespace = text(namespace);
  const claim = text(name) === "" ? undefined : referenceKey("persistentvolumeclaims", claimNamespace, text(name));
  const secrets = new Set<ReferenceKey>();
  for (const [source, field] of [...secretRefs, ...driverRefs]) {
    const ref = fields(fields(spec[source])[field]);
    if (text(ref["name"]) === "") continue;
    const own = text(ref["namespace"]);
    secrets.add(referenceKey("secrets", own === "" ? claimNamespace : own, text(ref["name"])));
  }
  const { secretName, secretNamespace } = fields(spec["azureFile"]);
  if (text(secretName) !== "") {
    const own = text(secretNamespace);
    secrets.add(referenceKey("secrets", own === "" ? claimNamespace : own, text(secretName)));
  }
  return { claim, secrets: [...secrets] };
}

type Use = (resource: string, name: JsonValue | undefined) => void;

function useOfVolume(volume: JsonObject, podName: string, use: Use): void {
  for (const [source, field] of secretFields) use("secrets", fields(volume[source])[field]);
  for (const [source, field] of secretRefs) use("secrets", fields(fields(volume[source])[field])["name"]);
  use("configmaps", fields(volume["configMap"])["name"]);
  use("persistentvolumeclaims", fields(volume["persistentVolumeClaim"])["claimName"]);
  // The claim of an ephemeral volume is named after pod and volume.
  if (isJsonObject(volume["ephemeral"])) use("persistentvolumeclaims", `${podName}-${text(volume["name"])}`);
  for (const source of list(fields(volume["projected"])["sources"])) {
    use("secrets", fields(source["secret"])["name"]);
    use("configmaps", fields(source["configMap"])["name"]);
  }
}

function useOfContainer(container: JsonObject, use: Use): void {
  for (const variable of list(container["env"])) {
    const from = fields(variable["valueFrom"]);
    use("secrets", fields(from["secretKeyRef"])["name"]);
    use("configmaps", fields(from["configMapKeyRef"])["name"]);
  }
  for (const source of list(container["envFrom"])) {
    use("secrets", fields(source["secretRef"])["name"]);
    use("configmaps", fields(source["configMapRef"])["name"]);
  }
}

function containers(spec: JsonObject): JsonObject[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((name) => list(spec[name]));
}

function fields(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
