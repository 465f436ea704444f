import { labelValueErrors } from "../../api/label-syntax.ts";
import type {
  Affinity,
  LocalObjectReference,
  NodeAffinity,
  NodeSelectorTerm,
  PodAffinity,
  PodSpec,
  PodTemplateSpec,
} from "../../api/types/core-v1.ts";
import { warnAboutIp } from "../../api/validation/strict-ip.ts";
import { containerWarnings } from "./container-warnings.ts";
import { fractionWarnings } from "./fraction-warnings.ts";
import { portWarnings } from "./port-warnings.ts";
import { containersOf } from "./validation/container.ts";
import { podSeccompAnnotation } from "./validation/pod-annotations.ts";
import { volumeWarnings } from "./volume-warnings.ts";

/** Number of warnings; more do not fit into the headers of an answer. */
const warningsMax = 100;
const emptySelector = "a null labelSelector results in matching no pod";

/** Labels of nodes that have been renamed. */
const renamedLabels: ReadonlyMap<string, string> = new Map([
  ["beta.kubernetes.io/arch", 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ["beta.kubernetes.io/os", 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ["beta.kubernetes.io/instance-type", 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ["failure-domain.beta.kubernetes.io/region", 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ["failure-domain.beta.kubernetes.io/zone", 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
]);
const deadAnnotations: ReadonlyMap<string, string> = new Map([
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
]);

type Annotations = Readonly<Record<string, string>>;

/**
 * Warns about parts of a pod or a template that are valid but probably mistakes.
 * @param path of the template; empty for a pod
 */
export function podWarnings({ metadata, spec = { containers: null } }: PodTemplateSpec, path: string): string[] {
  const annotations = metadata?.annotations ?? {};
  const parent = path === "" ? "" : `${path}.`;
  const specPath = `${parent}spec`;
  const annotationPath = `${parent}metadata.annotations`;
  const containers = containersOf(spec, specPath);
  const context = { annotations, annotationPath, podProfile: spec.securityContext?.appArmorProfile };
  const rules: (() => string[])[] = [
    () => nodeLabelWarnings(spec, specPath),
    () => spreadWarnings(spec, `${specPath}.topologySpreadConstraints`),
    () => annotationWarnings(annotations, annotationPath),
    () => volumeWarnings(spec.volumes ?? [], `${specPath}.volumes`),
    () => repeatedAliasWarnings(spec, `${specPath}.hostAliases`),
    () => pullSecretWarnings(spec.imagePullSecrets ?? [], `${specPath}.imagePullSecrets`),
    () => fractionWarnings(spec.overhead, `${specPath}.overhead`),
    () => seccompWarnings(spec, annotations, annotationPath),
    () =>
      containers
        .flatMap(({ container, field }) => containerWarnings(container, field, { ...context, isTemplate: path !== "" }))
        .slice(0, warningsMax),
    () => portWarnings(containers, warningsMax),
    () => graceWarnings(spec, specPath),
    () => affinityWarnings(spec.affinity ?? {}, `${specPath}.affinity`),
    () => addressWarnings(spec, specPath),
  ];
  const warnings: string[] = [];
  for (const rule of rules) {
    if (warnings.length < warningsMax) warnings.push(...rule().slice(0, warningsMax));
  }
  return warnings.slice(0, warningsMax);
}

function nodeLabelWarnings({ nodeSelector, affinity }: PodSpec, path: string): string[] {
  return [
    ...Object.keys(nodeSelector ?? {}).flatMap((key) => {
      const text = renamedLabels.get(key);
      return text === undefined ? [] : [`${path}.nodeSelector[${key}]: ${text}`];
    }),
    ...nodeAffinityWarnings(affinity?.nodeAffinity ?? {}, `${path}.affinity.nodeAffinity`),
  ];
}

function nodeAffinityWarnings(affinity: NodeAffinity, field: string): string[] {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required,
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  } = affinity;
  return [
    ...(required?.nodeSelectorTerms ?? []).flatMap((term, at) => {
      const item = `${field}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${at}]`;
      return nodeTermWarnings(term, item, false);
    }),
    ...preferred.flatMap(({ preference }, at) => {
      const item = `${field}.preferredDuringSchedulingIgnoredDuringExecution[${at}].preference`;
      return nodeTermWarnings(preference, item, true);
    }),
  ];
}

/** @param checksValues values of preferences are not validated: a bad one matches nothing */
export function nodeTermWarnings(term: NodeSelectorTerm, field: string, checksValues: boolean): string[] {
  return (term.matchExpressions ?? []).flatMap(({ key, values = [] }, at) => {
    const item = `${field}.matchExpressions[${at}]`;
    return [
      ...renamed(key, `${item}.key`),
      ...(checksValues ? values : []).flatMap((value, index) =>
        labelValueErrors(value).map((problem) => `${item}.values[${index}]: ${value} is invalid, ${problem}`),
      ),
    ];
  });
}

function renamed(key: string, field: string): string[] {
  const text = renamedLabels.get(key);
  return text === undefined ? [] : [`${field}: ${key} is ${text}`];
}

function spreadWarnings({ topologySpreadConstraints = [] }: PodSpec, field: string): string[] {
  return topologySpreadConstraints.flatMap(({ topologyKey, labelSelector }, at) => [
    ...renamed(topologyKey, `${field}[${at}].topologyKey`),
    ...(labelSelector === undefined ? [`${field}[${at}].labelSelector: ${emptySelector}`] : []),
  ]);
}

function annotationWarnings(annotations: Annotations, field: string): string[] {
  return [...deadAnnotations].flatMap(([key, text]) =>
    Object.hasOwn(annotations, key) ? [`${field}[${key}]: ${text}`] : [],
  );
}

function seccompWarnings({ securityContext }: PodSpec, annotations: Annotations, field: string): string[] {
  if (securityContext?.seccompProfile !== undefined || !Object.hasOwn(annotations, podSeccompAnnotation)) return [];
  return [`${field}[${podSeccompAnnotation}]: non-functional in v1.27+; use the "seccompProfile" field instead`];
}

function repeatedAliasWarnings({ hostAliases = [] }: PodSpec, field: string): string[] {
  const addresses = hostAliases.map(({ ip }) => ip);
  return repeated(addresses, (at, ip) => `${field}[${at}].ip: duplicate ip ${JSON.stringify(ip)}`);
}

function pullSecretWarnings(secrets: readonly LocalObjectReference[], field: string): string[] {
  const names = secrets.map(({ name = "" }) => name);
  return [
    ...repeated(names, (at, name) => `${field}[${at}].name: duplicate name ${JSON.stringify(name)}`),
    ...names.flatMap((name, at) => (name === "" ? [`${field}[${at}].name: invalid empty name ""`] : [])),
  ];
}

function repeated(values: readonly string[], warn: (at: number, value: string) => string): string[] {
  const seen = new Set<string>();
  const warnings: string[] = [];
  for (const [at, value] of values.entries()) {
    if (seen.has(value)) warnings.push(warn(at, value));
    seen.add(value);
  }
  return warnings;
}

function graceWarnings({ terminationGracePeriodSeconds: seconds = 0 }: PodSpec, path: string): string[] {
  if (seconds >= 0) return [];
  const field = `${path}.terminationGracePeriodSeconds`;
  return [`${field}: must be >= 0; negative values are invalid and will be treated as 1`];
}

function affinityWarnings({ podAffinity = {}, podAntiAffinity = {} }: Affinity, field: string): string[] {
  return [
    ...termWarnings(podAffinity, `${field}.podAffinity`),
    ...termWarnings(podAntiAffinity, `${field}.podAntiAffinity`),
  ];
}

function termWarnings(affinity: PodAffinity, field: string): string[] {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required = [],
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  } = affinity;
  const warn = (isSelecting: boolean, item: string) =>
    isSelecting ? [] : [`${field}.${item}.labelSelector: ${emptySelector}`];
  return [
    ...required.flatMap(({ labelSelector }, at) =>
      warn(labelSelector !== undefined, `requiredDuringSchedulingIgnoredDuringExecution[${at}]`),
    ),
    ...preferred.flatMap(({ podAffinityTerm }, at) =>
      warn(
        podAffinityTerm.labelSelector !== undefined,
        `preferredDuringSchedulingIgnoredDuringExecution[${at}].podAffinityTerm`,
      ),
    ),
  ];
}

function addressWarnings({ dnsConfig, hostAliases = [] }: PodSpec, path: string): string[] {
  return [
    ...(dnsConfig?.nameservers ?? []).flatMap((ip, at) => warnAboutIp(ip, `${path}.dnsConfig.nameservers[${at}]`)),
    ...hostAliases.flatMap(({ ip }, at) => warnAboutIp(ip, `${path}.hostAliases[${at}].ip`)),
  ];
}
