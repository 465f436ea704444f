/** The release of Kubernetes whose API is served. */
export const apiRelease = "1.36";
