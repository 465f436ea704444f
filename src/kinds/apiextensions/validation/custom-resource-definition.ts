import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { type OpenApiSchema, someSchema } from "../../../api/structural/open-api-schema.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceSubresources,
} from "../../../api/types/apiextensions-v1.ts";
import { validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { dnsLabel1035Problems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { isEstablished } from "../definition-conditions.ts";
import { validateApiApproval } from "./api-approval.ts";
import { validateCaBundle } from "./ca-bundle.ts";
import { validateCustomResourceConversion } from "./custom-resource-conversion.ts";
import { requireNames, validateCustomResourceNames } from "./custom-resource-names.ts";
import { validateColumns, validateSubresources } from "./custom-resource-version.ts";
import { expressionsOf, type StoredExpressions, validateDefinitionSchema } from "./definition-schema.ts";
import { type DefinitionSpec, definitionSpecOf, schemasOf, type VersionParts } from "./definition-spec.ts";
import { validateDeprecationWarning } from "./deprecation-warning.ts";
import { allRequired, ratchetsOf, type SchemaRatchets } from "./schema-ratchets.ts";
import { hasTooManyFields, validateSelectableFields } from "./selectable-fields.ts";
import { shownVersions } from "./shown-definition.ts";

const scopes = ["Cluster", "Namespaced"];

/**
 * Returns the problems of a definition. Yields between expressions: a definition may have hundreds, and each takes about
 * a millisecond to compile.
 * @param old the stored definition of an update
 */
export function* validateDefinition(definition: KubeObject, old?: KubeObject): Generator<void, FieldError[]> {
  const { status } = definition as unknown as CustomResourceDefinition;
  const fresh = definitionSpecOf(definition);
  yield;
  const { group } = fresh.spec;
  const stored = old === undefined ? undefined : definitionSpecOf(old);
  const ratchets = stored === undefined ? allRequired : yield* ratchetsOf(schemasOf(stored));
  const check = new SpecCheck(fresh, stored, { ratchets, wasEstablished: isEstablished(old) });
  yield;
  return [
    ...(yield* check.run()),
    ...(old === undefined || stored === undefined ? [] : validateChanges(fresh, stored, isEstablished(old))),
    ...validateCustomResourceNames(status?.acceptedNames ?? noNames, "status.acceptedNames"),
    ...validateStoredVersions(status?.storedVersions ?? [], fresh),
    ...validateApiApproval(definition, group, old),
    ...validatePreservation(fresh, stored),
  ];
}

const noNames: CustomResourceDefinitionNames = { plural: "", kind: "" };

/** Returns the problems of a status. */
export function validateDefinitionStatus(definition: KubeObject): FieldError[] {
  const { status } = definition as unknown as CustomResourceDefinition;
  return validateCustomResourceNames(status?.acceptedNames ?? noNames, "status.acceptedNames");
}

/** The name is that of the resource, so that each is defined once. */
export function definitionNameProblems(name: string, definition: KubeObject): string[] {
  const { group, names } = (definition as unknown as CustomResourceDefinition).spec;
  const problems = dnsSubdomainProblems(name);
  return name === `${names.plural}.${group}` ? problems : [...problems, 'must be spec.names.plural+"."+spec.group'];
}

/** Objects are stored under the group and the plural; once they can exist, their kind and scope stay too. */
function validateChanges({ spec }: DefinitionSpec, { spec: old }: DefinitionSpec, isServed: boolean): FieldError[] {
  return [
    ...(isServed
      ? [
          ...validateImmutable(spec.scope, old.scope, "spec.scope"),
          ...validateImmutable(spec.names.kind, old.names.kind, "spec.names.kind"),
        ]
      : []),
    ...validateImmutable(spec.group, old.group, "spec.group"),
    ...validateImmutable(spec.names.plural, old.names.plural, "spec.names.plural"),
  ];
}

/** Checks that versions in which objects may still be stored stay readable. */
function validateStoredVersions(stored: readonly string[], { versions }: DefinitionSpec): FieldError[] {
  const field = "status.storedVersions";
  if (stored.length === 0) return [fieldError.invalid(field, null, "must have at least one stored version")];
  const names = new Set(versions.map(({ name }) => name));
  const known = new Set(stored);
  const missing: FieldError[] = [];
  for (const { name, storage } of versions) {
    if (storage && !known.has(name)) {
      missing.push(fieldError.invalid(field, [...stored], `must have the storage version ${name}`));
    }
    // Upstream considers each name once.
    known.delete(name);
  }
  return [
    ...missing,
    ...validateEach(stored, (name, at) => {
      const text = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
      return names.has(name) ? [] : [fieldError.invalid(`${field}[${at}]`, name, text)];
    }),
  ];
}

function validatePreservation({ spec }: DefinitionSpec, old: DefinitionSpec | undefined): FieldError[] {
  if (spec.preserveUnknownFields !== true || old?.spec.preserveUnknownFields === true) return [];
  const text =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [fieldError.invalid("spec.preserveUnknownFields", true, text)];
}

/** Checks one spec. */
class SpecCheck {
  readonly #fresh: DefinitionSpec;
  readonly #old: DefinitionSpec | undefined;
  readonly #wasEstablished: boolean;
  readonly #ratchets: SchemaRatchets;
  readonly #stored: StoredExpressions;
  readonly #unchanged: ReadonlySet<string>;
  readonly #requiresStructural: boolean;

  constructor(
    fresh: DefinitionSpec,
    old: DefinitionSpec | undefined,
    { ratchets, wasEstablished }: { readonly ratchets: SchemaRatchets; readonly wasEstablished: boolean },
  ) {
    this.#fresh = fresh;
    this.#old = old;
    this.#wasEstablished = wasEstablished;
    const oldSchemas = old === undefined ? [] : schemasOf(old);
    this.#ratchets = ratchets;
    this.#stored = expressionsOf(oldSchemas);
    this.#unchanged = old === undefined ? new Set() : unchangedVersions(fresh, old);
    const needsStructure = schemasOf(fresh).some((schema) => someSchema(schema, isExtended));
    this.#requiresStructural =
      this.#ratchets.requiresStructural || fresh.spec.preserveUnknownFields !== true || needsStructure;
  }

  *run(): Generator<void, FieldError[]> {
    const { spec, versions, shared } = this.#fresh;
    const { names, group, scope, preserveUnknownFields } = spec;
    const errors = [
      ...validateGroup(group),
      ...validateRequiredChoice(scope, scopes, "spec.scope"),
      ...this.#schemas(),
    ];
    if (preserveUnknownFields === true && schemasOf(this.#fresh).some((schema) => someSchema(schema, hasDefault))) {
      const detail = "must be false in order to use defaults in the schema";
      errors.push(fieldError.invalid("spec.preserveUnknownFields", true, detail));
    }
    for (const [at, version] of versions.entries()) {
      const field = `spec.versions[${at}]`;
      errors.push(
        ...validateLabel(version.name, `${field}.name`),
        ...validateDeprecationWarning(version, `${field}.deprecationWarning`),
      );
      const subresources = version.parts.subresources ?? shared.subresources;
      errors.push(
        ...(yield* this.#parts(version.parts, version.name, `${field}.schema`, hasStatus(subresources), field)),
      );
    }
    errors.push(
      ...validateVersionList(this.#fresh),
      ...validateLabel(versions[0]?.name, "spec.version"),
      ...requireNames(names, "spec.names"),
      ...validateCustomResourceNames(names, "spec.names"),
    );
    const anyStatus = hasStatus(shared.subresources) || versions.some(({ parts }) => hasStatus(parts.subresources));
    errors.push(...(yield* this.#parts(shared, versions[0]?.name ?? "", "spec.validation", anyStatus, "spec")));
    return [...errors, ...this.#conversion()];
  }

  #schemas(): FieldError[] {
    const { spec, versions, shared } = this.#fresh;
    if (shared.schema?.openAPIV3Schema !== undefined) return [];
    const { requiresSchemas } = this.#ratchets;
    if (!requiresSchemas && spec.preserveUnknownFields === true) return [];
    return validateEach(versions, ({ parts, served }, at) => {
      if (parts.schema?.openAPIV3Schema !== undefined || (!requiresSchemas && !served)) return [];
      const detail = requiresSchemas ? "" : "because otherwise all fields are pruned";
      return [fieldError.required(`spec.versions[${at}].schema.openAPIV3Schema`, detail)];
    });
  }

  /** Checks what is said about one version, or about all. */
  *#parts(
    { schema, subresources, columns, selectableFields }: VersionParts,
    version: string,
    schemaField: string,
    withStatus: boolean,
    field: string,
  ): Generator<void, FieldError[]> {
    const openApiSchema = schema?.openAPIV3Schema;
    const errors =
      openApiSchema === undefined
        ? []
        : yield* validateDefinitionSchema(openApiSchema, {
            path: schemaField,
            hasStatus: withStatus,
            ratchets: this.#ratchets,
            requiresStructural: this.#requiresStructural,
            stored: this.#stored,
            ignoresRuleCosts: this.#unchanged.has(version),
          });
    return [
      ...errors,
      ...validateSubresources(subresources, `${field}.subresources`),
      ...validateColumns(columns ?? [], `${field}.additionalPrinterColumns`),
      ...this.#selectableFields({ schema, selectableFields }, version, field),
    ];
  }

  #selectableFields(
    { schema, selectableFields = [] }: Pick<VersionParts, "schema" | "selectableFields">,
    version: string,
    field: string,
  ): FieldError[] {
    if (selectableFields.length === 0) return [];
    const place = `${field}.selectableFields`;
    const isShared = field === "spec";
    if (schema === undefined || (!isShared && schema.openAPIV3Schema === undefined)) {
      const detail = isShared
        ? "may only be set when validations.schema is included"
        : "may only be set when `version.schema.openAPIV3Schema` is not included";
      return [fieldError.invalid(place, "", detail)];
    }
    const old = isShared ? this.#old?.shared.selectableFields : this.#old?.byName.get(version)?.parts.selectableFields;
    const isSame = equalJson(old as JsonValue | undefined, selectableFields as unknown as JsonValue);
    return validateSelectableFields(
      selectableFields,
      schema.openAPIV3Schema ?? {},
      place,
      isSame && hasTooManyFields(old),
    );
  }

  #conversion(): FieldError[] {
    const { conversion, preserveUnknownFields } = this.#fresh.spec;
    if (conversion === undefined) return [];
    const errors: FieldError[] = [];
    if (conversion.strategy !== "None" && preserveUnknownFields === true) {
      const detail = "must be None if spec.preserveUnknownFields is true";
      errors.push(fieldError.invalid("spec.conversion.strategy", conversion.strategy, detail));
    }
    const old = this.#old?.spec.conversion;
    const oldBundle = old?.webhook?.clientConfig?.caBundle ?? "";
    const allowsBadBundle = !this.#wasEstablished || (oldBundle !== "" && validateCaBundle(oldBundle, "").length > 0);
    return [...errors, ...validateCustomResourceConversion(conversion, old, allowsBadBundle, "spec.conversion")];
  }
}

/** Reports whether a schema says something that only structural schemas can say. */
function isExtended(node: OpenApiSchema): boolean {
  return (
    node.default !== undefined ||
    node["x-kubernetes-embedded-resource"] === true ||
    node["x-kubernetes-preserve-unknown-fields"] !== undefined ||
    node["x-kubernetes-int-or-string"] === true ||
    node["x-kubernetes-list-map-keys"] !== undefined ||
    node["x-kubernetes-list-type"] !== undefined ||
    node["x-kubernetes-validations"] !== undefined
  );
}

function hasDefault(node: OpenApiSchema): boolean {
  return node.default !== undefined;
}

/** Returns the names of the versions whose schema an update does not change. */
function unchangedVersions(fresh: DefinitionSpec, old: DefinitionSpec): Set<string> {
  const schemasByName = ({ versions, byName, shared }: DefinitionSpec) => {
    const own = versions.some(({ parts }) => parts.schema !== undefined);
    return (name: string) => (own ? byName.get(name)?.parts.schema : shared.schema) as JsonValue | undefined;
  };
  const schemaOf = schemasByName(fresh);
  const oldSchemaOf = schemasByName(old);
  return new Set(fresh.versions.map(({ name }) => name).filter((name) => equalJson(schemaOf(name), oldSchemaOf(name))));
}

function hasStatus(subresources: CustomResourceSubresources | undefined): boolean {
  return subresources?.status !== undefined;
}

function validateGroup(group: string): FieldError[] {
  const field = "spec.group";
  if (group === "") return [fieldError.required(field)];
  const problems = dnsSubdomainProblems(group);
  if (problems.length > 0) return [fieldError.invalid(field, group, problems.join(","))];
  return group.includes(".") ? [] : [fieldError.invalid(field, group, "should be a domain with at least one dot")];
}

function validateLabel(name: string | undefined, field: string): FieldError[] {
  const problems = name === undefined || (name === "" && field === "spec.version") ? [] : dnsLabel1035Problems(name);
  return problems.length === 0 ? [] : [fieldError.invalid(field, name, problems.join(","))];
}

function validateVersionList(fresh: DefinitionSpec): FieldError[] {
  const field = "spec.versions";
  const names = fresh.versions.map(({ name }) => name);
  const storageCount = fresh.versions.filter(({ storage }) => storage).length;
  const errors: FieldError[] = [];
  if (new Set(names).size < names.length) {
    errors.push(fieldError.invalid(field, shownVersions(fresh), "must contain unique version names"));
  }
  if (storageCount !== 1) {
    const detail = "must have exactly one version marked as storage version";
    errors.push(fieldError.invalid(field, shownVersions(fresh), detail));
  }
  return errors;
}
