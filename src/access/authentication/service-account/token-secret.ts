/** Type of the Secrets that contain a token of a service account. */
export const tokenSecretType = "kubernetes.io/service-account-token";
/** Annotations that name the account. */
export const accountNameAnnotation = "kubernetes.io/service-account.name";
export const accountUidAnnotation = "kubernetes.io/service-account.uid";
/** Label with the day of the last use of the token. */
export const lastUsedLabel = "kubernetes.io/legacy-token-last-used";
/** Label of a Secret whose token was unused for a long time and is no longer accepted. */
export const invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since";
