import "./quick-passwords.ts";
import { inject } from "vitest";
import type {} from "./engine.ts";

Object.assign(process.env, inject("settings"));
