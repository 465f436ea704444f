import { celTypes, recordTypes } from "../../../cel/index.ts";

const { boolType, dynType, intType, listOf, mapOf, stringType, structOf, timestampType } = celTypes;
type CelType = celTypes.CelType;

export const requestType = structOf("kubernetes.AdmissionRequest");
export const namespaceType = structOf("kubernetes.Namespace");

const kindType = structOf("kubernetes.GroupVersionKind");
const resourceType = structOf("kubernetes.GroupVersionResource");
const userInfoType = structOf("kubernetes.UserInfo");
const conditionType = structOf("kubernetes.NamespaceCondition");
const metadataType = structOf("kubernetes.NamespaceMetadata");
const specType = structOf("kubernetes.NamespaceSpec");
const statusType = structOf("kubernetes.NamespaceStatus");

type Fields = Readonly<Record<string, CelType>>;

/** The types of `request` and `namespaceObject`. */
export const requestTypes = recordTypes(
  new Map<CelType, Fields>([
    [kindType, { group: stringType, version: stringType, kind: stringType }],
    [resourceType, { group: stringType, version: stringType, resource: stringType }],
    [
      userInfoType,
      {
        username: stringType,
        uid: stringType,
        groups: listOf(stringType),
        extra: mapOf(stringType, listOf(stringType)),
      },
    ],
    [
      requestType,
      {
        kind: kindType,
        resource: resourceType,
        subResource: stringType,
        requestKind: kindType,
        requestResource: resourceType,
        requestSubResource: stringType,
        name: stringType,
        namespace: stringType,
        operation: stringType,
        userInfo: userInfoType,
        dryRun: boolType,
        options: dynType,
      },
    ],
    [specType, { finalizers: listOf(stringType) }],
    [
      conditionType,
      {
        status: stringType,
        type: stringType,
        lastTransitionTime: timestampType,
        message: stringType,
        reason: stringType,
      },
    ],
    [statusType, { conditions: listOf(conditionType), phase: stringType }],
    [
      metadataType,
      {
        name: stringType,
        generateName: stringType,
        namespace: stringType,
        labels: mapOf(stringType, stringType),
        annotations: mapOf(stringType, stringType),
        UID: stringType,
        creationTimestamp: timestampType,
        deletionGracePeriodSeconds: intType,
        deletionTimestamp: timestampType,
        generation: intType,
        resourceVersion: stringType,
        finalizers: listOf(stringType),
      },
    ],
    [namespaceType, { metadata: metadataType, spec: specType, status: statusType }],
  ]),
);
