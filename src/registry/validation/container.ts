import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { fieldsOf } from "./key-values.ts";
import { dnsLabelProblems, environmentNameProblems, portNameProblems } from "./names.ts";
import { objectsOf, textOf, validateChoice, validateRange } from "./pod-fields.ts";
import { validateHandler, validateProbe } from "./probe.ts";
import { validateResourceRequirements } from "./resource-requirements.ts";

const protocols = ["SCTP", "TCP", "UDP"];
const valueSources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

export interface ContainerContext {
  readonly volumeNames: ReadonlySet<string>;
  /** Names of the containers seen so far, over all lists of the pod; grows by this one. */
  readonly names: Set<string>;
  /** Ephemeral containers may not have ports, probes, hooks or resources. */
  readonly ephemeral: boolean;
}

export function validateContainer(container: JsonObject, field: string, context: ContainerContext): FieldError[] {
  const resources = fieldsOf(container["resources"]);
  return [
    ...validateName(container, field, context.names),
    ...validateImage(container, `${field}.image`),
    ...validateChoice(container["imagePullPolicy"], ["Always", "IfNotPresent", "Never"], `${field}.imagePullPolicy`),
    ...validateChoice(
      container["terminationMessagePolicy"],
      ["FallbackToLogsOnError", "File"],
      `${field}.terminationMessagePolicy`,
    ),
    ...(context.ephemeral ? validateEphemeral(container, field) : validateProbes(container, field)),
    ...validatePorts(objectsOf(container["ports"]), `${field}.ports`),
    ...objectsOf(container["env"]).flatMap((variable, at) => validateVariable(variable, `${field}.env[${at}]`)),
    ...objectsOf(container["envFrom"]).flatMap((source, at) =>
      validateVariableSource(source, `${field}.envFrom[${at}]`),
    ),
    ...validateMounts(objectsOf(container["volumeMounts"]), `${field}.volumeMounts`, context.volumeNames),
    ...validateDevices(container, field, context.volumeNames),
    ...validateResourceRequirements(resources, `${field}.resources`),
  ];
}

function validateName(container: JsonObject, field: string, names: Set<string>): FieldError[] {
  const name = textOf(container["name"]);
  if (name === "") return [fieldError.required(`${field}.name`)];
  const errors = dnsLabelProblems(name).map((problem) => fieldError.invalid(`${field}.name`, name, problem));
  if (names.has(name)) errors.push(fieldError.duplicate(`${field}.name`, name));
  names.add(name);
  return errors;
}

function validateImage(container: JsonObject, field: string): FieldError[] {
  const image = textOf(container["image"]);
  if (image === "") return [fieldError.required(field)];
  return image === image.trim()
    ? []
    : [fieldError.invalid(field, image, "must not have leading or trailing whitespace")];
}

function validateEphemeral(container: JsonObject, field: string): FieldError[] {
  const forbidden = ["ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"];
  return forbidden
    .filter((name) => container[name] !== undefined && container[name] !== null)
    .map((name) => fieldError.forbidden(`${field}.${name}`, "field not allowed for ephemeral containers"));
}

function validateProbes(container: JsonObject, field: string): FieldError[] {
  const probes = (["liveness", "readiness", "startup"] as const).flatMap((kind) => {
    const probe = container[`${kind}Probe`];
    return probe === undefined || probe === null ? [] : validateProbe(fieldsOf(probe), kind, `${field}.${kind}Probe`);
  });
  const lifecycle = fieldsOf(container["lifecycle"]);
  const hooks = ["postStart", "preStop"].flatMap((name) =>
    lifecycle[name] === undefined || lifecycle[name] === null
      ? []
      : validateHandler(
          fieldsOf(lifecycle[name]),
          ["exec", "httpGet", "tcpSocket", "sleep"],
          `${field}.lifecycle.${name}`,
        ),
  );
  return [...hooks, ...probes];
}

function validatePorts(ports: readonly JsonObject[], field: string): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, at) => {
    const errors: FieldError[] = [];
    const name = textOf(port["name"]);
    if (name !== "") {
      for (const problem of portNameProblems(name))
        errors.push(fieldError.invalid(`${field}[${at}].name`, name, problem));
      if (names.has(name)) errors.push(fieldError.duplicate(`${field}[${at}].name`, name));
      names.add(name);
    }
    if ((port["containerPort"] ?? 0) === 0) errors.push(fieldError.required(`${field}[${at}].containerPort`));
    else errors.push(...validateRange(port["containerPort"], { min: 1, max: 65_535 }, `${field}[${at}].containerPort`));
    errors.push(...validateRange(port["hostPort"], { min: 0, max: 65_535 }, `${field}[${at}].hostPort`));
    if (textOf(port["protocol"]) === "") errors.push(fieldError.required(`${field}[${at}].protocol`));
    return [...errors, ...validateChoice(port["protocol"], protocols, `${field}[${at}].protocol`)];
  });
}

function validateVariable(variable: JsonObject, field: string): FieldError[] {
  const name = textOf(variable["name"]);
  const errors =
    name === ""
      ? [fieldError.required(`${field}.name`)]
      : environmentNameProblems(name).map((problem) => fieldError.invalid(`${field}.name`, name, problem));
  const source = variable["valueFrom"];
  if (source === undefined || source === null) return errors;
  if (textOf(variable["value"]) !== "") {
    errors.push(fieldError.invalid(`${field}.valueFrom`, "", "may not be specified when `value` is not empty"));
  }
  return [...errors, ...validateOneOf(fieldsOf(source), valueSources, `${field}.valueFrom`)];
}

function validateVariableSource(source: JsonObject, field: string): FieldError[] {
  return validateOneOf(source, ["configMapRef", "secretRef"], field);
}

function validateOneOf(source: JsonObject, known: readonly string[], field: string): FieldError[] {
  const set = known.filter((name) => source[name] !== undefined && source[name] !== null);
  if (set.length === 1) return [];
  const text = set.length === 0 ? "must specify one of: " : "may not have more than one field specified at a time";
  return [
    fieldError.invalid(
      field,
      "",
      set.length === 0 ? `${text}${known.map((name) => `\`${name}\``).join(" or ")}` : text,
    ),
  ];
}

function validateMounts(mounts: readonly JsonObject[], field: string, volumes: ReadonlySet<string>): FieldError[] {
  const paths = new Set<string>();
  return mounts.flatMap((mount, at) => {
    const errors = validateVolumeName(mount["name"], `${field}[${at}].name`, volumes);
    const path = textOf(mount["mountPath"]);
    if (path === "") errors.push(fieldError.required(`${field}[${at}].mountPath`));
    if (paths.has(path)) errors.push(fieldError.invalid(`${field}[${at}].mountPath`, path, "must be unique"));
    if (path.includes(":")) errors.push(fieldError.invalid(`${field}[${at}].mountPath`, path, "must not contain ':'"));
    paths.add(path);
    const subPath = textOf(mount["subPath"]);
    errors.push(...validateSubPath(subPath, `${field}[${at}].subPath`));
    if (subPath !== "" && textOf(mount["subPathExpr"]) !== "") {
      const text = "subPathExpr and subPath are mutually exclusive";
      errors.push(fieldError.invalid(`${field}[${at}].subPathExpr`, mount["subPathExpr"], text));
    }
    return errors;
  });
}

function validateSubPath(path: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (path.startsWith("/")) errors.push(fieldError.invalid(field, path, "must be a relative path"));
  if (path.split("/").includes("..")) errors.push(fieldError.invalid(field, path, "must not contain '..'"));
  return errors;
}

function validateDevices(container: JsonObject, field: string, volumes: ReadonlySet<string>): FieldError[] {
  const mounted = new Set(objectsOf(container["volumeMounts"]).map((mount) => textOf(mount["mountPath"])));
  return objectsOf(container["volumeDevices"]).flatMap((device, at) => {
    const errors = validateVolumeName(device["name"], `${field}.volumeDevices[${at}].name`, volumes);
    const path = textOf(device["devicePath"]);
    if (path === "") errors.push(fieldError.required(`${field}.volumeDevices[${at}].devicePath`));
    else if (mounted.has(path)) {
      const text = "must not already exist in volumeMounts";
      errors.push(fieldError.invalid(`${field}.volumeDevices[${at}].devicePath`, path, text));
    }
    return errors;
  });
}

function validateVolumeName(value: JsonValue | undefined, field: string, volumes: ReadonlySet<string>): FieldError[] {
  const name = textOf(value);
  if (name === "") return [fieldError.required(field)];
  return volumes.has(name) ? [] : [fieldError.notFound(field, name)];
}
