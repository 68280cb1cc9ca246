"""Tests of the layout: layers, module names, packaging and page assets."""
