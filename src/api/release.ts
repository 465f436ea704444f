/** The release of Kubernetes whose API is served. */
export const apiRelease = "1.36";
/** The minor version before that one. Its servers must be able to read everything that this one stores. */
export const compatibleMinor = Number(apiRelease.split(".")[1]) - 1;
/** The patch release whose answers are the measure. */
export const apiPatchRelease = "1.36.2";
