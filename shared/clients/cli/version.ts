/** The version of the package. The build replaces it. */
export const version: string = "0.0.0";
