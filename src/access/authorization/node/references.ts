import { isJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { objectOf, objectsOf, textOf } from "../../../api/json-reading.ts";

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
/** References to further secrets that the driver of a persistent volume needs on a node. */
const driverRefs: readonly (readonly [source: string, field: string])[] = [
  ["csi", "nodeStageSecretRef"],
  ["csi", "nodeExpandSecretRef"],
];

/** Returns the objects that running the pod requires: secrets, config maps, claims and its account. */
export function podReferences(pod: JsonObject, namespace: string, podName: string): ReferenceKey[] {
  const spec = objectOf(pod["spec"]);
  const keys = new Set<ReferenceKey>();
  const use = (resource: string, name: JsonValue | undefined) => {
    if (typeof name === "string" && name !== "") keys.add(referenceKey(resource, namespace, name));
  };
  use("serviceaccounts", spec["serviceAccountName"]);
  for (const { name } of objectsOf(spec["imagePullSecrets"])) use("secrets", name);
  for (const volume of objectsOf(spec["volumes"])) useOfVolume(volume, podName, use);
  for (const container of containers(spec)) useOfContainer(container, use);
  for (const { resourceClaimName } of objectsOf(spec["resourceClaims"])) use("resourceclaims", resourceClaimName);
  for (const { resourceClaimName } of objectsOf(objectOf(pod["status"])["resourceClaimStatuses"])) {
    use("resourceclaims", resourceClaimName);
  }
  return [...keys];
}

/** Returns the claim to which a persistent volume is bound, and the secrets that its nodes need. */
export function volumeReferences(volume: JsonObject): { claim: ReferenceKey | undefined; secrets: ReferenceKey[] } {
  const spec = objectOf(volume["spec"]);
  const { namespace, name } = objectOf(spec["claimRef"]);
  const claimNamespace = textOf(namespace);
  const claim = textOf(name) === "" ? undefined : referenceKey("persistentvolumeclaims", claimNamespace, textOf(name));
  const secrets = new Set<ReferenceKey>();
  for (const [source, field] of [...secretRefs, ...driverRefs]) {
    const ref = objectOf(objectOf(spec[source])[field]);
    if (textOf(ref["name"]) === "") continue;
    const own = textOf(ref["namespace"]);
    secrets.add(referenceKey("secrets", own === "" ? claimNamespace : own, textOf(ref["name"])));
  }
  const { secretName, secretNamespace } = objectOf(spec["azureFile"]);
  if (textOf(secretName) !== "") {
    const own = textOf(secretNamespace);
    secrets.add(referenceKey("secrets", own === "" ? claimNamespace : own, textOf(secretName)));
  }
  return { claim, secrets: [...secrets] };
}

type Use = (resource: string, name: JsonValue | undefined) => void;

function useOfVolume(volume: JsonObject, podName: string, use: Use): void {
  for (const [source, field] of secretFields) use("secrets", objectOf(volume[source])[field]);
  for (const [source, field] of secretRefs) use("secrets", objectOf(objectOf(volume[source])[field])["name"]);
  use("configmaps", objectOf(volume["configMap"])["name"]);
  use("persistentvolumeclaims", objectOf(volume["persistentVolumeClaim"])["claimName"]);
  // The claim of an ephemeral volume is named after pod and volume.
  if (isJsonObject(volume["ephemeral"])) use("persistentvolumeclaims", `${podName}-${textOf(volume["name"])}`);
  for (const source of objectsOf(objectOf(volume["projected"])["sources"])) {
    use("secrets", objectOf(source["secret"])["name"]);
    use("configmaps", objectOf(source["configMap"])["name"]);
  }
}

function useOfContainer(container: JsonObject, use: Use): void {
  for (const variable of objectsOf(container["env"])) {
    const from = objectOf(variable["valueFrom"]);
    use("secrets", objectOf(from["secretKeyRef"])["name"]);
    use("configmaps", objectOf(from["configMapKeyRef"])["name"]);
  }
  for (const source of objectsOf(container["envFrom"])) {
    use("secrets", objectOf(source["secretRef"])["name"]);
    use("configmaps", objectOf(source["configMapRef"])["name"]);
  }
}

function containers(spec: JsonObject): JsonObject[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((name) => objectsOf(spec[name]));
}
