import { equalJson, type JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { type OpenApiSchema, readOpenApiSchema } from "../../../api/structural/open-api-schema.ts";
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  SelectableField,
} from "../../../api/types/apiextensions-v1.ts";

/** Fields that a definition has for one version or for all of them. */
export interface VersionParts {
  /** Undefined where `schema` is absent. */
  readonly schema: { readonly openAPIV3Schema: OpenApiSchema | undefined } | undefined;
  readonly subresources: CustomResourceSubresources | undefined;
  readonly columns: readonly CustomResourceColumnDefinition[] | undefined;
  readonly selectableFields: readonly SelectableField[] | undefined;
}

type SpecVersion = CustomResourceDefinitionVersion & { readonly parts: VersionParts };

/**
 * A spec in upstream's internal form: fields with the same value in all versions are beside the versions, not in them.
 * The paths of errors follow this form.
 */
export interface DefinitionSpec {
  readonly spec: CustomResourceDefinitionSpec;
  readonly versions: readonly SpecVersion[];
  /** Versions by their names; of versions with the same name, the first. */
  readonly byName: ReadonlyMap<string, SpecVersion>;
  readonly shared: VersionParts;
}

const parts = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"] as const;
const nothing: VersionParts = {
  schema: undefined,
  subresources: undefined,
  columns: undefined,
  selectableFields: undefined,
};

/** Reads the spec of a definition that was decoded by its type. */
export function definitionSpecOf(definition: KubeObject): DefinitionSpec {
  const { spec } = definition as unknown as CustomResourceDefinition;
  const given = spec.versions ?? [];
  const [first] = given;
  const isShared = (part: (typeof parts)[number]) =>
    first !== undefined && given.every((version) => equalJson(jsonOf(version[part]), jsonOf(first[part])));
  const shared = new Set(parts.filter(isShared));
  const versions = given.map((version) => ({ ...version, parts: partsOf(version, (part) => !shared.has(part)) }));
  return {
    spec,
    versions,
    byName: new Map(versions.toReversed().map((version) => [version.name, version])),
    shared: first === undefined ? nothing : partsOf(first, (part) => shared.has(part)),
  };
}

/** Typed parts of a decoded document are JSON. */
function jsonOf(value: unknown): JsonValue | undefined {
  return value as JsonValue | undefined;
}

function partsOf(
  version: CustomResourceDefinitionVersion,
  isIncluded: (part: (typeof parts)[number]) => boolean,
): VersionParts {
  const { schema, subresources, additionalPrinterColumns, selectableFields } = version;
  return {
    schema:
      isIncluded("schema") && schema !== undefined
        ? { openAPIV3Schema: readOpenApiSchema(jsonOf(schema.openAPIV3Schema)) }
        : undefined,
    subresources: isIncluded("subresources") ? subresources : undefined,
    columns: isIncluded("additionalPrinterColumns") ? additionalPrinterColumns : undefined,
    selectableFields: isIncluded("selectableFields") ? selectableFields : undefined,
  };
}

/** Returns the schemas of all versions, in order; those that versions share come once for each. */
export function schemasOf({ versions, shared }: DefinitionSpec): (OpenApiSchema | undefined)[] {
  return versions.map((version) => (version.parts.schema ?? shared.schema)?.openAPIV3Schema);
}
