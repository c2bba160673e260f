/* Stands in for a header of newlib's. */
#pragma once
#define _CONST const
#define _VOID void
#define _PTR void *
#define _DEFUN(name, parameters, arguments) name(arguments)
#define _AND ,
