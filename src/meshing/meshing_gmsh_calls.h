// The functions of Gmsh that this module calls, found in its library the first time one is needed
// (meshing_gmsh_load): a program that does not mesh does not load Gmsh and its CAD kernel, some 80 libraries
// and 0.13 s. A call of a function that is missing here fails at link time: add it to both lists.
#ifndef PL_MESHING_GMSH_CALLS_H
#define PL_MESHING_GMSH_CALLS_H

#include <gmshc.h>

#define GMSH_CALLS(X)                                                                                        \
    X(gmshFinalize)                                                                                          \
    X(gmshFree)                                                                                              \
    X(gmshInitialize)                                                                                        \
    X(gmshLoggerGetLastError)                                                                                \
    X(gmshMerge)                                                                                             \
    X(gmshModelAdd)                                                                                          \
    X(gmshModelAddDiscreteEntity)                                                                            \
    X(gmshModelAddPhysicalGroup)                                                                             \
    X(gmshModelGeoAddSurfaceLoop)                                                                            \
    X(gmshModelGeoAddVolume)                                                                                 \
    X(gmshModelGeoSynchronize)                                                                               \
    X(gmshModelGetBoundary)                                                                                  \
    X(gmshModelGetBoundingBox)                                                                               \
    X(gmshModelGetColor)                                                                                     \
    X(gmshModelGetCurvature)                                                                                 \
    X(gmshModelGetEntities)                                                                                  \
    X(gmshModelGetEntitiesForPhysicalGroup)                                                                  \
    X(gmshModelGetEntityName)                                                                                \
    X(gmshModelGetParametrizationBounds)                                                                     \
    X(gmshModelGetPhysicalGroups)                                                                            \
    X(gmshModelGetPhysicalName)                                                                              \
    X(gmshModelMeshAddElementsByType)                                                                        \
    X(gmshModelMeshAddNodes)                                                                                 \
    X(gmshModelMeshClassifySurfaces)                                                                         \
    X(gmshModelMeshCreateGeometry)                                                                           \
    X(gmshModelMeshGenerate)                                                                                 \
    X(gmshModelMeshGetElements)                                                                              \
    X(gmshModelMeshGetElementsByType)                                                                        \
    X(gmshModelMeshGetNodes)                                                                                 \
    X(gmshModelMeshOptimize)                                                                                 \
    X(gmshModelMeshRemoveSizeCallback)                                                                       \
    X(gmshModelMeshSetOrder)                                                                                 \
    X(gmshModelMeshSetSizeCallback)                                                                          \
    X(gmshModelOccAddBox)                                                                                    \
    X(gmshModelOccAddCurveLoop)                                                                              \
    X(gmshModelOccAddCylinder)                                                                               \
    X(gmshModelOccAddCone)                                                                                   \
    X(gmshModelOccAddLine)                                                                                   \
    X(gmshModelOccAddPlaneSurface)                                                                           \
    X(gmshModelOccAddPoint)                                                                                  \
    X(gmshModelOccAddSphere)                                                                                 \
    X(gmshModelOccCut)                                                                                       \
    X(gmshModelOccRotate)                                                                                    \
    X(gmshModelOccExtrude)                                                                                   \
    X(gmshModelOccFragment)                                                                                  \
    X(gmshModelOccGetEntities)                                                                               \
    X(gmshModelOccGetMass)                                                                                   \
    X(gmshModelOccImportShapes)                                                                              \
    X(gmshModelOccSynchronize)                                                                               \
    X(gmshModelRemoveEntities)                                                                               \
    X(gmshModelSetPhysicalName)                                                                              \
    X(gmshOptionSetNumber)                                                                                   \
    X(gmshOptionSetString)

// One pointer per function, NULL until meshing_gmsh_load has found them all.
typedef struct gmsh_calls {
#define X(name) __typeof__(name) *name##_;
    GMSH_CALLS(X)
#undef X
} gmsh_calls;

extern gmsh_calls meshing_gmsh;

#define gmshFinalize (*meshing_gmsh.gmshFinalize_)
#define gmshFree (*meshing_gmsh.gmshFree_)
#define gmshInitialize (*meshing_gmsh.gmshInitialize_)
#define gmshLoggerGetLastError (*meshing_gmsh.gmshLoggerGetLastError_)
#define gmshMerge (*meshing_gmsh.gmshMerge_)
#define gmshModelAdd (*meshing_gmsh.gmshModelAdd_)
#define gmshModelAddDiscreteEntity (*meshing_gmsh.gmshModelAddDiscreteEntity_)
#define gmshModelAddPhysicalGroup (*meshing_gmsh.gmshModelAddPhysicalGroup_)
#define gmshModelGeoAddSurfaceLoop (*meshing_gmsh.gmshModelGeoAddSurfaceLoop_)
#define gmshModelGeoAddVolume (*meshing_gmsh.gmshModelGeoAddVolume_)
#define gmshModelGeoSynchronize (*meshing_gmsh.gmshModelGeoSynchronize_)
#define gmshModelGetBoundary (*meshing_gmsh.gmshModelGetBoundary_)
#define gmshModelGetBoundingBox (*meshing_gmsh.gmshModelGetBoundingBox_)
#define gmshModelGetColor (*meshing_gmsh.gmshModelGetColor_)
#define gmshModelGetCurvature (*meshing_gmsh.gmshModelGetCurvature_)
#define gmshModelGetEntities (*meshing_gmsh.gmshModelGetEntities_)
#define gmshModelGetEntitiesForPhysicalGroup (*meshing_gmsh.gmshModelGetEntitiesForPhysicalGroup_)
#define gmshModelGetEntityName (*meshing_gmsh.gmshModelGetEntityName_)
#define gmshModelGetParametrizationBounds (*meshing_gmsh.gmshModelGetParametrizationBounds_)
#define gmshModelGetPhysicalGroups (*meshing_gmsh.gmshModelGetPhysicalGroups_)
#define gmshModelGetPhysicalName (*meshing_gmsh.gmshModelGetPhysicalName_)
#define gmshModelMeshAddElementsByType (*meshing_gmsh.gmshModelMeshAddElementsByType_)
#define gmshModelMeshAddNodes (*meshing_gmsh.gmshModelMeshAddNodes_)
#define gmshModelMeshClassifySurfaces (*meshing_gmsh.gmshModelMeshClassifySurfaces_)
#define gmshModelMeshCreateGeometry (*meshing_gmsh.gmshModelMeshCreateGeometry_)
#define gmshModelMeshGenerate (*meshing_gmsh.gmshModelMeshGenerate_)
#define gmshModelMeshGetElements (*meshing_gmsh.gmshModelMeshGetElements_)
#define gmshModelMeshGetElementsByType (*meshing_gmsh.gmshModelMeshGetElementsByType_)
#define gmshModelMeshGetNodes (*meshing_gmsh.gmshModelMeshGetNodes_)
#define gmshModelMeshOptimize (*meshing_gmsh.gmshModelMeshOptimize_)
#define gmshModelMeshRemoveSizeCallback (*meshing_gmsh.gmshModelMeshRemoveSizeCallback_)
#define gmshModelMeshSetOrder (*meshing_gmsh.gmshModelMeshSetOrder_)
#define gmshModelMeshSetSizeCallback (*meshing_gmsh.gmshModelMeshSetSizeCallback_)
#define gmshModelOccAddBox (*meshing_gmsh.gmshModelOccAddBox_)
#define gmshModelOccAddCurveLoop (*meshing_gmsh.gmshModelOccAddCurveLoop_)
#define gmshModelOccAddCylinder (*meshing_gmsh.gmshModelOccAddCylinder_)
#define gmshModelOccAddCone (*meshing_gmsh.gmshModelOccAddCone_)
#define gmshModelOccAddLine (*meshing_gmsh.gmshModelOccAddLine_)
#define gmshModelOccAddPlaneSurface (*meshing_gmsh.gmshModelOccAddPlaneSurface_)
#define gmshModelOccAddPoint (*meshing_gmsh.gmshModelOccAddPoint_)
#define gmshModelOccAddSphere (*meshing_gmsh.gmshModelOccAddSphere_)
#define gmshModelOccCut (*meshing_gmsh.gmshModelOccCut_)
#define gmshModelOccRotate (*meshing_gmsh.gmshModelOccRotate_)
#define gmshModelOccExtrude (*meshing_gmsh.gmshModelOccExtrude_)
#define gmshModelOccFragment (*meshing_gmsh.gmshModelOccFragment_)
#define gmshModelOccGetEntities (*meshing_gmsh.gmshModelOccGetEntities_)
#define gmshModelOccGetMass (*meshing_gmsh.gmshModelOccGetMass_)
#define gmshModelOccImportShapes (*meshing_gmsh.gmshModelOccImportShapes_)
#define gmshModelOccSynchronize (*meshing_gmsh.gmshModelOccSynchronize_)
#define gmshModelRemoveEntities (*meshing_gmsh.gmshModelRemoveEntities_)
#define gmshModelSetPhysicalName (*meshing_gmsh.gmshModelSetPhysicalName_)
#define gmshOptionSetNumber (*meshing_gmsh.gmshOptionSetNumber_)
#define gmshOptionSetString (*meshing_gmsh.gmshOptionSetString_)

#endif
