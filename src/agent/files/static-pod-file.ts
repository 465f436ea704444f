import { podReferences } from "../../access/authorization/node/references.ts";
import { parseYaml } from "../../api/codec/yaml.ts";
import { fieldErrorText } from "../../api/field-error.ts";
import { isJsonObject, type JsonObject } from "../../api/json.ts";
import type { Pod, Volume, VolumeProjection } from "../../api/types/core-v1.ts";
import { dnsSubdomainProblems } from "../../api/validation/names.ts";
import { validateObjectMeta } from "../../api/validation/object-meta.ts";
import { podStrategy } from "../../kinds/core/pod.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { hashAnnotation, seenAnnotation, sourceAnnotation } from "../pods/pod-source.ts";

/** Largest file that is read. */
export const staticPodBytesMax = 10 * 1024 * 1024;

/** Number of hexadecimal digits of a uid, as many as kubelet's. */
const uidDigits = 32;

export interface StaticPodOrigin {
  /** Path of the file. */
  readonly path: string;
  readonly nodeName: string;
  readonly nowMs: number;
}

let scheme: Scheme | undefined;

/**
 * Reads a pod from a file in JSON or YAML, completes it as the API server would, and makes it a pod of the node. Its uid
 * is a hash of the content, so a changed file is another pod.
 * @throws Error that says what is wrong with the file
 */
export function parseStaticPod(bytes: Uint8Array, origin: StaticPodOrigin): Pod {
  const pod = decodePod(bytes, origin.path);
  if ((pod.metadata.name ?? "") === "") throw new Error("invalid pod: name is needed for the pod");
  placeOnNode(pod, origin);
  const errors = [
    ...validateObjectMeta(pod.metadata, { namespaced: true, validateName: dnsSubdomainProblems }),
    ...podStrategy.validate(pod),
  ];
  if (errors.length > 0) throw new Error(`invalid pod: [${errors.map(fieldErrorText).join(", ")}]`);
  const reference = apiReference(pod);
  if (reference !== undefined) throw new Error(`static pods may not reference ${reference}`);
  return pod;
}

function decodePod(bytes: Uint8Array, path: string): Pod {
  try {
    const { value } = parseYaml(bytes, { strict: false });
    if (!isJsonObject(value) || value["kind"] !== "Pod" || value["apiVersion"] !== "v1") {
      throw new Error("it has no object of kind Pod and version v1");
    }
    scheme ??= Scheme.builtIn();
    const form = scheme.find("", "v1", "pods")?.form;
    if (form === undefined) throw new Error("pods are not known");
    const { object } = form.decode(value, { kind: "Pod" });
    form.applyDefaults(object);
    return { ...object, metadata: object["metadata"] ?? {} } as unknown as Pod;
  } catch (error) {
    throw new Error(`${path}: couldn't parse as pod(${thrownText(error)}), please check config file`);
  }
}

/** Changes a pod in place. */
function placeOnNode(pod: Pod, { path, nodeName, nowMs }: StaticPodOrigin): void {
  const { metadata } = pod;
  metadata.uid ||= contentHash(pod, nodeName, path);
  metadata.name = `${metadata.name}-${nodeName.toLowerCase()}`;
  metadata.namespace ||= "default";
  metadata.annotations = {
    ...metadata.annotations,
    [hashAnnotation]: metadata.uid,
    [seenAnnotation]: new Date(nowMs).toISOString(),
    [sourceAnnotation]: "file",
  };
  const spec = { containers: null, ...pod.spec, nodeName };
  const tolerations = spec.tolerations ?? [];
  // Trouble of the node must not evict what the node itself may need.
  const isTolerant = tolerations.some(
    ({ operator, effect, key }) => operator === "Exists" && effect === "NoExecute" && !key,
  );
  spec.tolerations = isTolerant ? tolerations : [...tolerations, { operator: "Exists", effect: "NoExecute" }];
  pod.spec = spec;
  pod.status = { phase: "Pending" };
}

function contentHash(pod: Pod, nodeName: string, path: string): string {
  const hasher = new Bun.CryptoHasher("sha256");
  hasher.update(JSON.stringify([pod, nodeName, path], (_, value) => (typeof value === "bigint" ? `${value}` : value)));
  return hasher.digest("hex").slice(0, uidDigits);
}

/** Returns the sort of API object that a pod refers to. The agent must be able to run a static pod without the API. */
function apiReference(pod: Pod): string | undefined {
  const { volumes = [], resourceClaims = [], serviceAccountName = "" } = pod.spec ?? {};
  if (serviceAccountName !== "") return "serviceaccounts";
  const withoutVolumes = { ...pod, spec: { ...pod.spec, volumes: [] } } as unknown as JsonObject;
  const used = new Set(podReferences(withoutVolumes, "ns", "pod").map((key) => key.split("/")[0]));
  if (used.has("secrets")) return "secrets";
  if (used.has("configmaps")) return "configmaps";
  if (resourceClaims.length > 0) return "resourceclaims";
  for (const volume of volumes) {
    const reference = volumeReference(volume);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

function volumeReference(volume: Volume): string | undefined {
  if (volume.configMap !== undefined) return "configmaps (via configmap volumes)";
  if (volume.secret !== undefined) return "secrets (via secret volumes)";
  if (volume.csi !== undefined) return "csidrivers (via CSI volumes)";
  if (volume.glusterfs !== undefined) return "endpoints (via glusterFS volumes)";
  if (volume.persistentVolumeClaim !== undefined) return "persistentvolumeclaims";
  if (volume.ephemeral !== undefined) return "persistentvolumeclaims (via ephemeral volumes)";
  if (volume.azureFile !== undefined) return "secrets (via azureFile volumes)";
  for (const source of volume.projected?.sources ?? []) {
    const reference = projectionReference(source);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

function projectionReference(source: VolumeProjection): string | undefined {
  if (source.configMap !== undefined) return "configmaps (via projected volumes)";
  if (source.secret !== undefined) return "secrets (via projected volumes)";
  if (source.serviceAccountToken !== undefined) return "serviceaccounts (via projected volumes)";
  if (source.clusterTrustBundle !== undefined) return "clustertrustbundles";
  if (source.podCertificate !== undefined) return "podcertificates";
  return undefined;
}
