import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { containersOf } from "./validation/container.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { isPresent, objectsOf, textOf } from "../../api/validation/fields.ts";
import { isWhole, parsedQuantity } from "../../api/validation/quantity.ts";
import { portWarnings } from "./port-warnings.ts";

/** More do not fit into the headers of an answer. */
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
/** Kinds of volumes that are, or will be, no more. */
const deadVolumes: readonly (readonly [source: string, text: string])[] = [
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

/**
 * What is valid in a pod or a template of pods, and hardly meant.
 * @param path of the template; empty for a pod
 */
export function podWarnings(template: JsonObject, path: string): string[] {
  const annotations = fieldsOf(fieldsOf(template["metadata"])["annotations"]);
  const spec = fieldsOf(template["spec"]);
  const specPath = path === "" ? "spec" : `${path}.spec`;
  const annotationPath = `${path === "" ? "" : `${path}.`}metadata.annotations`;
  const containers = containersOf(spec, specPath);
  const rules: (() => string[])[] = [
    () => nodeLabelWarnings(spec, specPath),
    () => spreadWarnings(spec, `${specPath}.topologySpreadConstraints`),
    () => annotationWarnings(annotations, annotationPath),
    () => volumeWarnings(spec, `${specPath}.volumes`),
    () => repeated(objectsOf(spec["hostAliases"]), "ip", `${specPath}.hostAliases`),
    () => repeated(objectsOf(spec["imagePullSecrets"]), "name", `${specPath}.imagePullSecrets`),
    () => namelessSecretWarnings(spec, `${specPath}.imagePullSecrets`),
    () => fractionWarnings(spec["overhead"], `${specPath}.overhead`),
    () => containers.flatMap(({ container, field }) => containerWarnings(container, field)).slice(0, warningsMax),
    () => portWarnings(containers, warningsMax),
    () => affinityWarnings(spec, `${specPath}.affinity`),
  ];
  const warnings: string[] = [];
  for (const rule of rules) {
    if (warnings.length < warningsMax) warnings.push(...rule().slice(0, warningsMax));
  }
  return warnings.slice(0, warningsMax);
}

function nodeLabelWarnings(spec: JsonObject, path: string): string[] {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution } =
    fieldsOf(fieldsOf(spec["affinity"])["nodeAffinity"]);
  const field = `${path}.affinity.nodeAffinity`;
  const terms = [
    ...objectsOf(fieldsOf(required)["nodeSelectorTerms"]).map((term, at) => ({
      term,
      at: `${field}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${at}]`,
    })),
    ...objectsOf(preferredDuringSchedulingIgnoredDuringExecution).map((term, at) => ({
      term: fieldsOf(term["preference"]),
      at: `${field}.preferredDuringSchedulingIgnoredDuringExecution[${at}].preference`,
    })),
  ];
  return [
    ...Object.keys(fieldsOf(spec["nodeSelector"])).flatMap((key) => {
      const text = renamedLabels.get(key);
      return text === undefined ? [] : [`${path}.nodeSelector[${key}]: ${text}`];
    }),
    ...terms.flatMap(({ term, at }) =>
      objectsOf(term["matchExpressions"]).flatMap(({ key }, index) =>
        renamed(textOf(key), `${at}.matchExpressions[${index}].key`),
      ),
    ),
  ];
}

function renamed(key: string, field: string): string[] {
  const text = renamedLabels.get(key);
  return text === undefined ? [] : [`${field}: ${key} is ${text}`];
}

function spreadWarnings(spec: JsonObject, field: string): string[] {
  return objectsOf(spec["topologySpreadConstraints"]).flatMap((constraint, at) => [
    ...renamed(textOf(constraint["topologyKey"]), `${field}[${at}].topologyKey`),
    ...(isPresent(constraint["labelSelector"]) ? [] : [`${field}[${at}].labelSelector: ${emptySelector}`]),
  ]);
}

function annotationWarnings(annotations: JsonObject, field: string): string[] {
  return [...deadAnnotations].flatMap(([key, text]) =>
    Object.hasOwn(annotations, key) ? [`${field}[${key}]: ${text}`] : [],
  );
}

function volumeWarnings(spec: JsonObject, field: string): string[] {
  return objectsOf(spec["volumes"]).flatMap((volume, at) =>
    deadVolumes
      .filter(([source]) => isPresent(volume[source]))
      .map(([source, text]) => `${field}[${at}].${source === "storageos" ? "storageOS" : source}: ${text}`),
  );
}

function repeated(items: readonly JsonObject[], name: string, field: string): string[] {
  const seen = new Set<string>();
  return items.flatMap((item, at) => {
    const value = textOf(item[name]);
    if (!seen.has(value)) {
      seen.add(value);
      return [];
    }
    return [`${field}[${at}].${name}: duplicate ${name} ${JSON.stringify(value)}`];
  });
}

function namelessSecretWarnings(spec: JsonObject, field: string): string[] {
  return objectsOf(spec["imagePullSecrets"]).flatMap(({ name }, at) =>
    textOf(name) === "" ? [`${field}[${at}].name: invalid empty name ""`] : [],
  );
}

/** A part of a byte. */
function fractionWarnings(amounts: JsonValue | undefined, field: string): string[] {
  if (!isJsonObject(amounts)) return [];
  return ["memory", "ephemeral-storage"].flatMap((name) => {
    const quantity = isPresent(amounts[name]) ? parsedQuantity(amounts[name]) : undefined;
    if (quantity === undefined || isWhole(quantity)) return [];
    return [`${field}[${name}]: fractional byte value ${JSON.stringify(amounts[name])} is invalid, must be an integer`];
  });
}

function containerWarnings(container: JsonObject, field: string): string[] {
  const { limits, requests } = fieldsOf(container["resources"]);
  return [
    ...fractionWarnings(limits, `${field}.resources.limits`),
    ...fractionWarnings(requests, `${field}.resources.requests`),
    ...hiddenVariableWarnings(objectsOf(container["env"]), `${field}.env`),
  ];
}

/** A variable that is set again is fine only if it is built from what it was before. */
function hiddenVariableWarnings(variables: readonly JsonObject[], field: string): string[] {
  const seen = new Set<string>();
  return variables.flatMap((variable, at) => {
    const [name, value] = [textOf(variable["name"]), textOf(variable["value"])];
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const reference = `$(${name})`;
    const builtOnIt = !isPresent(variable["valueFrom"]) && value !== reference && value.includes(reference);
    if (builtOnIt) return [];
    const text = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
    return [`${field}[${at}]: ${text}`];
  });
}

function affinityWarnings(spec: JsonObject, field: string): string[] {
  return ["podAffinity", "podAntiAffinity"].flatMap((name) => {
    const affinity = fieldsOf(fieldsOf(spec["affinity"])[name]);
    const [required, preferred] = [
      "requiredDuringSchedulingIgnoredDuringExecution",
      "preferredDuringSchedulingIgnoredDuringExecution",
    ] as const;
    const selects = (term: JsonObject) => isPresent(term["labelSelector"]);
    return [
      ...objectsOf(affinity[required]).flatMap((term, at) =>
        selects(term) ? [] : [`${field}.${name}.${required}[${at}].labelSelector: ${emptySelector}`],
      ),
      ...objectsOf(affinity[preferred]).flatMap((weighted, at) =>
        selects(fieldsOf(weighted["podAffinityTerm"]))
          ? []
          : [`${field}.${name}.${preferred}[${at}].podAffinityTerm.labelSelector: ${emptySelector}`],
      ),
    ];
  });
}
