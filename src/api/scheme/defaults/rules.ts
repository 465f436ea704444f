import { cloneJson, type JsonObject, type JsonValue } from "../../json.ts";
import type { DefaultRule } from "../../schema/schema.ts";
import defaultsJson from "../generated/defaults.json";
import { defaultAdmissionRule } from "./admission-rule.ts";
import { defaultContainer } from "./container.ts";
import { defaultCsiDriver } from "./csi-driver.ts";
import { defaultCustomResourceDefinition } from "./custom-resource-definition.ts";
import { defaultDaemonSet } from "./daemon-set.ts";
import { defaultDeployment, defaultReplicaSet } from "./deployment.ts";
import { defaultDeviceRequest } from "./device-request.ts";
import { defaultEndpointPort } from "./endpoints.ts";
import { defaultFlowSchema } from "./flow-schema.ts";
import { defaultAutoscaler, defaultReplicas } from "./horizontal-pod-autoscaler.ts";
import { defaultIngressClassParameters } from "./ingress-class.ts";
import { defaultCronJob, defaultJob } from "./job.ts";
import { defaultLimitRangeItem } from "./limit-range.ts";
import { defaultNamespace } from "./namespace.ts";
import { defaultNetworkPolicy } from "./network-policy.ts";
import { alignPodCidrs, defaultNode, roundNodeStatus } from "./node.ts";
import { defaultPersistentIscsi, defaultPersistentRbd, defaultPersistentScaleIo } from "./persistent-volume-source.ts";
import { defaultClaim, defaultPersistentVolume } from "./persistent-volume.ts";
import { defaultPod, defaultPodSpec } from "./pod.ts";
import { defaultReplicationController } from "./replication-controller.ts";
import { roundOverhead, roundQuota, roundRequirements } from "./resource-list.ts";
import { defaultRoleBinding, defaultSubject } from "./role-binding.ts";
import { mergeStringData } from "./secret.ts";
import { defaultService } from "./service.ts";
import { defaultStatefulSet } from "./stateful-set.ts";
import { defaultClaimTemplate, defaultVolume } from "./volume.ts";

/** Rules that are code, by the type that they belong to. */
const codedRules: Readonly<Record<string, DefaultRule>> = {
  "apiextensions/v1.CustomResourceDefinition": defaultCustomResourceDefinition,
  "admissionregistration/v1.NamedRuleWithOperations": defaultAdmissionRule,
  "admissionregistration/v1.RuleWithOperations": defaultAdmissionRule,
  "apps/v1.DaemonSet": defaultDaemonSet,
  "apps/v1.Deployment": defaultDeployment,
  "apps/v1.ReplicaSet": defaultReplicaSet,
  "apps/v1.StatefulSet": defaultStatefulSet,
  "autoscaling/v1.HorizontalPodAutoscaler": defaultReplicas,
  "autoscaling/v2.HorizontalPodAutoscaler": defaultAutoscaler,
  "batch/v1.CronJob": defaultCronJob,
  "batch/v1.Job": defaultJob,
  "core/v1.Container": defaultContainer,
  "core/v1.EndpointPort": defaultEndpointPort,
  "core/v1.EphemeralContainer": defaultContainer,
  "core/v1.ISCSIPersistentVolumeSource": defaultPersistentIscsi,
  "core/v1.LimitRangeItem": defaultLimitRangeItem,
  "core/v1.Namespace": defaultNamespace,
  "core/v1.Node": defaultNode,
  "core/v1.NodeSpec": alignPodCidrs,
  "core/v1.NodeStatus": roundNodeStatus,
  "core/v1.PersistentVolume": defaultPersistentVolume,
  "core/v1.PersistentVolumeClaim": defaultClaim,
  "core/v1.PersistentVolumeClaimTemplate": defaultClaimTemplate,
  "core/v1.Pod": defaultPod,
  "core/v1.PodSpec": defaultPodSpec,
  "core/v1.RBDPersistentVolumeSource": defaultPersistentRbd,
  "core/v1.ReplicationController": defaultReplicationController,
  "core/v1.ResourceQuotaSpec": roundQuota,
  "core/v1.ResourceQuotaStatus": roundQuota,
  "core/v1.ResourceRequirements": roundRequirements,
  "core/v1.ScaleIOPersistentVolumeSource": defaultPersistentScaleIo,
  "core/v1.Secret": mergeStringData,
  "core/v1.Service": defaultService,
  "core/v1.Volume": defaultVolume,
  "core/v1.VolumeResourceRequirements": roundRequirements,
  "flowcontrol/v1.FlowSchema": defaultFlowSchema,
  "networking/v1.IngressClassParametersReference": defaultIngressClassParameters,
  "networking/v1.NetworkPolicy": defaultNetworkPolicy,
  "node/v1.Overhead": roundOverhead,
  "rbac/v1.ClusterRoleBinding": defaultRoleBinding,
  "rbac/v1.RoleBinding": defaultRoleBinding,
  "rbac/v1.Subject": defaultSubject,
  "resource/v1.DeviceSubRequest": defaultDeviceRequest,
  "resource/v1.ExactDeviceRequest": defaultDeviceRequest,
  "storage/v1.CSIDriver": defaultCsiDriver,
};

/** Their fields are always written, so that a decoded zero does not tell whether the client has said so. */
const zeroIsOpen: ReadonlySet<string> = new Set([
  "batch/v1.PodFailurePolicyOnPodConditionsPattern",
  "flowcontrol/v1.QueuingConfiguration",
]);

/** Plain values of the generated data, then the coded rule of the same type. */
export const builtInDefaultRules: ReadonlyMap<string, DefaultRule> = allRules();

function allRules(): Map<string, DefaultRule> {
  const rules = new Map<string, DefaultRule>();
  for (const [type, values] of Object.entries(defaultsJson as Record<string, JsonObject>)) {
    rules.set(type, zeroIsOpen.has(type) ? openRule(values) : valueRule(values));
  }
  for (const [type, coded] of Object.entries(codedRules)) {
    const values = rules.get(type);
    rules.set(type, values === undefined ? coded : both(values, coded));
  }
  return rules;
}

function both(first: DefaultRule, second: DefaultRule): DefaultRule {
  return (object) => {
    first(object);
    second(object);
  };
}

/** The data names only fields of the type itself, and none for which zero means something. */
function valueRule(values: JsonObject): DefaultRule {
  const entries = Object.entries(values);
  return (object) => {
    for (const [name, value] of entries) setDefault(object, name, value);
  };
}

function openRule(values: JsonObject): DefaultRule {
  const entries = Object.entries(values);
  return (object) => {
    for (const [name, value] of entries) object[name] ||= cloneJson(value);
  };
}

function setDefault(object: JsonObject, name: string, value: JsonValue): void {
  if (object[name] === undefined || object[name] === null) object[name] = cloneJson(value);
}
