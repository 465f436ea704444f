/** Every identifier that contains the vendor's name, so that a change of name changes one file. */
export const metaGroup = "meta.k8s.io";
export const protobufMediaType = "application/vnd.kubernetes.protobuf";
export const initialEventsEndAnnotation = "k8s.io/initial-events-end";
export const namespaceNameLabel = "kubernetes.io/metadata.name";
export const namespaceFinalizer = "kubernetes";
export const orphanFinalizer = "orphan";
export const foregroundDeletionFinalizer = "foregroundDeletion";
