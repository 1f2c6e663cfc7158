/* SPDX-License-Identifier: MIT */
/*
 * files.h - the files of the page, which are part of the program: files.c is made of page.html, page.css and page.js.
 */
#ifndef SL_WEB_FILES_H
#define SL_WEB_FILES_H

#include <stddef.h>

extern const unsigned char sl_web_page_html[], sl_web_page_css[], sl_web_page_js[];
extern const size_t sl_web_page_html_size, sl_web_page_css_size, sl_web_page_js_size;

#endif
