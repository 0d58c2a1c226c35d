// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// OpenZeppelin's AccessControl: roles are mappings in structs in a mapping.
import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";

contract Roles is AccessControl {
    bytes32 constant CLERK = keccak256("CLERK");
    uint files;

    function file() public {
        require(hasRole(CLERK, msg.sender));
        require(files < 5);
        files++;
        assert(hasRole(CLERK, msg.sender)); // expect: safe
    }

    function guarded() public onlyRole(CLERK) {
        // The modifier ends with an error of its own type, which solc does not model.
        assert(hasRole(CLERK, msg.sender)); // expect: unsafe
    }

    function few() public view {
        assert(files <= 5); // expect: safe
    }
}
