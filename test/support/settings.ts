import { inject } from "vitest";
import "./engine.ts";

Object.assign(process.env, inject("settings"));
