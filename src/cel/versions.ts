import { Environment, type Library } from "./environment.ts";
import { authorizerLibrary, authorizerSelectorsLibrary } from "./library/authorizer.ts";
import { cidrLibrary } from "./library/cidr.ts";
import { formatLibrary } from "./library/format.ts";
import { ipLibrary } from "./library/ip.ts";
import { kubernetesListsLibrary } from "./library/kubernetes-lists.ts";
import { listsLibrary } from "./library/lists.ts";
import { optionalLibrary } from "./library/optional.ts";
import { quantityLibrary } from "./library/quantity.ts";
import { regexLibrary } from "./library/regex.ts";
import { semverLibrary } from "./library/semver.ts";
import { setsLibrary } from "./library/sets.ts";
import { standardFunctions } from "./library/standard.ts";
import { stringsLibrary0, stringsLibrary2 } from "./library/strings.ts";
import { twoVariableLoopsLibrary } from "./library/two-variable-loops.ts";
import { urlLibrary } from "./library/url.ts";
import { standardMacros } from "./syntax/macros.ts";

/** A minor version of Kubernetes 1: 35 is 1.35. */
export type MinorVersion = number;

/** The version that contains all libraries. */
const newestVersion: MinorVersion = 36;

interface VersionedLibrary {
  readonly library: Library;
  readonly introduced: MinorVersion;
  /** The first version that does not have it any more. */
  readonly removed?: MinorVersion;
  /** The feature gate that brings it before its version. */
  readonly gate?: "AuthorizeWithSelectors";
}

/** In the order in which overloads of the same function are tried. */
const libraries: readonly VersionedLibrary[] = [
  { library: { functions: standardFunctions, macros: standardMacros }, introduced: 0 },
  { library: urlLibrary, introduced: 0 },
  { library: regexLibrary, introduced: 0 },
  { library: kubernetesListsLibrary, introduced: 0 },
  { library: authorizerLibrary, introduced: 27 },
  { library: optionalLibrary, introduced: 28 },
  { library: quantityLibrary, introduced: 28 },
  { library: stringsLibrary0, introduced: 0, removed: 29 },
  { library: stringsLibrary2, introduced: 29 },
  { library: setsLibrary, introduced: 29 },
  { library: ipLibrary, introduced: 30 },
  { library: cidrLibrary, introduced: 30 },
  { library: formatLibrary, introduced: 31 },
  { library: authorizerSelectorsLibrary, introduced: 31, gate: "AuthorizeWithSelectors" },
  { library: twoVariableLoopsLibrary, introduced: 32 },
  { library: semverLibrary, introduced: 33 },
  { library: listsLibrary, introduced: 34 },
];
const optionalSyntaxIntroduced: MinorVersion = 28;
const crossTypeComparisonIntroduced: MinorVersion = 28;
const literalChecksIntroduced: MinorVersion = 29;

const made = new Map<string, Environment>();

/** Returns what expressions that are stored already may use: everything that this server knows. */
export function storedEnvironment(): Environment {
  return environmentOf(newestVersion, false);
}

/**
 * Returns what new expressions may use, so that a server of the compatibility version can read them too. A library whose gate
 * is on may be used before its version.
 */
export function newEnvironment(
  compatibility: MinorVersion,
  gates: { readonly AuthorizeWithSelectors?: boolean } = {},
): Environment {
  return environmentOf(Math.min(compatibility, newestVersion), gates.AuthorizeWithSelectors ?? false);
}

/** All environments are kept, because only a few versions exist. */
function environmentOf(version: MinorVersion, hasSelectors: boolean): Environment {
  const key = `${version} ${hasSelectors}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const isIncluded = ({ introduced, removed, gate }: VersionedLibrary) =>
    (version >= introduced || (gate !== undefined && hasSelectors)) && (removed === undefined || version < removed);
  const environment = Environment.of(
    libraries.filter(isIncluded).map(({ library }) => library),
    {
      optionalSyntax: version >= optionalSyntaxIntroduced,
      crossTypeComparison: version >= crossTypeComparisonIntroduced,
      checks: { literals: version >= literalChecksIntroduced, formats: version >= literalChecksIntroduced },
    },
  );
  made.set(key, environment);
  return environment;
}
