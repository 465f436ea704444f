import { rootCaConfigMap } from "../admission/service-account.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { NamespaceObjects, type NamespaceObjectsParts } from "./namespace-objects.ts";
import type { TrustBundle } from "./trust-bundle.ts";

const descriptionAnnotation = "kubernetes.io/description";
const description =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** Publishes the authority of this server for pods. */
export function rootCaPublisher(
  parts: Omit<NamespaceObjectsParts, "name" | "queueName" | "wanted" | "follow">,
  ca: TrustBundle,
): NamespaceObjects {
  return new NamespaceObjects({
    ...parts,
    name: rootCaConfigMap,
    queueName: "root_ca_cert_publisher",
    wanted: (namespace, current) => withAuthority(current ?? emptyMap(namespace), ca.pem()),
    follow: (run) => ca.follow(run),
  });
}

function emptyMap(namespace: string): KubeObject {
  return { kind: "ConfigMap", apiVersion: "v1", metadata: { name: rootCaConfigMap, namespace } };
}

function withAuthority(map: KubeObject, ca: string): KubeObject {
  const annotations = { ...map.metadata.annotations, [descriptionAnnotation]: description };
  return { ...map, metadata: { ...map.metadata, annotations }, data: { "ca.crt": ca } };
}
