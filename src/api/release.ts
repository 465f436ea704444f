/** The release of Kubernetes whose API is served. */
export const apiRelease = "1.36";
/** The patch release whose answers are the measure. */
export const apiPatchRelease = "1.36.2";
