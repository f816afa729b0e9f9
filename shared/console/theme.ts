import { createTheme, type MantineColorsTuple } from "@mantine/core";

const accent: MantineColorsTuple = [
  "#eef0fd",
  "#dcdffa",
  "#bcc2f5",
  "#9aa3f0",
  "#7c87e6",
  "#5f6bda",
  "#4451c7",
  "#3844aa",
  "#2d378a",
  "#222a6b",
];
const dark: MantineColorsTuple = [
  "#ececee",
  "#c9ccd1",
  "#a2a7af",
  "#71767f",
  "#43464d",
  "#2c2e33",
  "#202226",
  "#191a1d",
  "#121315",
  "#0b0c0d",
];

/** White on the fifth and sixth is readable, unlike on Mantine's own red. */
const red: MantineColorsTuple = [
  "#fdecea",
  "#fbd5d1",
  "#f7b0a9",
  "#ff948a",
  "#ff948a",
  "#cf3a30",
  "#b42318",
  "#98200f",
  "#7d1a12",
  "#5f130d",
];

/** styles.css has the colours that are not Mantine's. */
export const theme = createTheme({
  respectReducedMotion: true,
  colors: { accent, dark, red },
  primaryColor: "accent",
  primaryShade: { light: 6, dark: 5 },
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', Menlo, Consolas, monospace",
  defaultRadius: "md",
  radius: { md: "6px", lg: "10px" },
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.25rem" },
  headings: { fontWeight: "600" },
  components: {
    // Most fields are required, so labels mark those that are optional.
    InputWrapper: { defaultProps: { withAsterisk: false } },
    Anchor: { defaultProps: { underline: "always" } },
  },
});
