/** The costs of operations, the same in estimates and in evaluations. */
export const listCreationCost = 10;
export const mapCreationCost = 30;
export const structCreationCost = 40;
export const textTraversalFactor = 0.1;
export const patternLengthFactor = 0.25;
export const authorizationCheckCost = 350_000;
/** A selector is taken to have a requirement for every two characters. */
export const requirementsPerCharacter = 0.5;
export const requirementCost = listCreationCost + structCreationCost;
/** The longest pattern behind a name format, for estimates. */
export const formatPatternSizeMax = 128;
export const formatSizeMax = 64;
