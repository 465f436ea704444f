import { metaSchema } from "../../api/codec/meta-schema.ts";
import { apiVersionOf, type GroupVersionKind } from "../../api/gvk.ts";
import { structForm } from "../../api/scheme/object-form.ts";
import type { Deprecation, ResourceInfo, SubresourceInfo, VersionConverter } from "../../api/scheme/resource.ts";
import { readerOf } from "../../api/scheme/selectable-fields.ts";
import { compareVersions } from "../../api/version-order.ts";
import type { ReplicasPaths } from "../../apply/scale-entries.ts";
import type { CatalogEntry } from "../../registry/catalog.ts";
import { type DeclaredEndpoint, type Kind, stored, subresource, view } from "../../registry/kind.ts";
import { type ConvertVersions, CustomConverter } from "./custom-converter.ts";
import { CustomForm } from "./custom-form.ts";
import { customScaleView } from "./custom-scale.ts";
import { customStatusStrategy, customStrategy } from "./custom-strategy.ts";
import { customColumns, customTable } from "./custom-table.ts";
import type { CustomDefinition, DefinedVersion } from "./definition.ts";
import { InstanceValidator } from "./instance-validation.ts";
import type { RuleObserver } from "./rule-observer.ts";
import { namesOf } from "./scale-values.ts";

const verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const subresourceVerbs = ["get", "patch", "update"];
const scaleKind: GroupVersionKind = { group: "autoscaling", version: "v1", kind: "Scale" };

/**
 * Returns the kind that a definition describes. Schemas are read and compiled when somebody uses them.
 * @returns undefined for a definition without a stored version
 */
export function customEntry(
  definition: CustomDefinition,
  convert: ConvertVersions,
  observer?: RuleObserver,
): CatalogEntry | undefined {
  const converter = new CustomConverter(convert);
  const infos = new Map(
    definition.versions
      .filter(({ isServed, isStored }) => isServed || isStored)
      .map((version) => [version, resourceInfo(definition, version, converter)] as const),
  );
  const storage = definition.versions.find(({ isStored }) => isStored);
  const storedInfo = storage && infos.get(storage);
  if (storedInfo === undefined) return undefined;
  const paths: ReplicasPaths = new Map(
    [...infos].map(([{ scale }, info]) => [apiVersionOf(info), scale && namesOf(scale.specReplicasPath)]),
  );
  const kinds = new Map(
    [...infos].map(([version, info]) => [info, kindOf(info, version, { paths, observer })] as const),
  );
  return {
    kind: kinds.get(storedInfo) as Kind,
    kinds,
    stored: storedInfo,
    served: [...infos].filter(([{ isServed }]) => isServed).map(([, info]) => info),
  };
}

function resourceInfo(
  definition: CustomDefinition,
  version: DefinedVersion,
  converter: VersionConverter,
): ResourceInfo {
  const { group, names, isNamespaced, isTerminating } = definition;
  const { plural, singular, kind, listKind, shortNames, categories } = names;
  const form = new CustomForm(() => definition.readSchema(version.name));
  const gvk = { group, version: version.name, kind };
  const status: SubresourceInfo = { name: "status", gvk, verbs: subresourceVerbs, form };
  const scale: SubresourceInfo = {
    name: "scale",
    gvk: scaleKind,
    verbs: subresourceVerbs,
    form: structForm(metaSchema("autoscaling/v1.Scale")),
  };
  const subresources = [...(version.hasStatus ? [status] : []), ...(version.scale === undefined ? [] : [scale])];
  const deprecation = deprecationOf(definition, version);
  return {
    ...gvk,
    resource: plural,
    singular,
    listKind,
    namespaced: isNamespaced,
    verbs,
    shortNames,
    categories,
    storageVersionHash: storageVersionHash(definition),
    virtual: false,
    keyPrefix: `/registry/${group}/${plural}/`,
    form,
    columns: customColumns(version.columns),
    table: customTable(version.columns),
    selectableFields: new Map(
      version.selectableFields.map((path) => [namesOf(path).join("."), readerOf(namesOf(path).join("."))]),
    ),
    labelRefusal: (label) => `field label not supported: ${label}`,
    subresources: new Map(subresources.map((one) => [one.name, one])),
    converter,
    ...(isTerminating ? { isTerminating } : {}),
    ...(deprecation === undefined ? {} : { deprecation }),
  };
}

interface KindParts {
  readonly paths: ReplicasPaths;
  readonly observer: RuleObserver | undefined;
}

function kindOf(info: ResourceInfo, { hasStatus, scale }: DefinedVersion, { paths, observer }: KindParts): Kind {
  let validator: InstanceValidator | undefined;
  const validation = () => {
    validator ??= new InstanceValidator({
      kind: info.kind,
      apiVersion: apiVersionOf(info),
      schema: (info.form as CustomForm).structural,
      scale,
      observer,
    });
    return validator;
  };
  const strategy = customStrategy(validation, hasStatus);
  const subresources = new Map<string, DeclaredEndpoint>();
  if (hasStatus) subresources.set("status", subresource(customStatusStrategy(strategy, validation)));
  if (scale !== undefined) {
    subresources.set(
      "scale",
      view((version) => customScaleView(version, scale, paths)),
    );
  }
  return { group: info.group, resource: info.resource, endpoint: stored(strategy), subresources };
}

/** Returns the hash by which clients distinguish storage versions, as for built-in kinds. */
function storageVersionHash({ group, names, versions }: CustomDefinition): string {
  const storage = versions.find(({ isStored }) => isStored)?.name ?? "";
  const digest = new Bun.CryptoHasher("sha256").update(`${group}/${storage}/${names.kind}`).digest();
  return digest.subarray(0, storageHashBytes).toString("base64");
}

const storageHashBytes = 8;

function deprecationOf(definition: CustomDefinition, version: DefinedVersion): Deprecation | undefined {
  if (!version.isDeprecated) return undefined;
  const { group, names, versions } = definition;
  const [newest] = versions
    .filter(({ isServed, isDeprecated }) => isServed && !isDeprecated)
    .map(({ name }) => name)
    .sort(compareVersions);
  const isNewer = newest !== undefined && compareVersions(newest, version.name) < 0;
  const instead = isNewer ? `; use ${group}/${newest} ${names.kind}` : "";
  const usual = `${group}/${version.name} ${names.kind} is deprecated${instead}`;
  return { since: "", removedIn: "", warning: version.deprecationWarning || usual };
}
